/* SPDX-License-Identifier: MIT */
/*
 * report_losses.c - what the trace doesn't have, and why.
 */
#include <inttypes.h>

#include "tools/report/report.h"
#include "tools/util/numbers.h"
#include "tools/util/text_wrap.h"

static void print_missing_kernels(const struct trace_metadata *account,
				  FILE *out)
{
	const int64_t without =
		account->missing_kernels - account->partial_graphs;

	if (account->launched_kernels > 0 &&
	    without >= account->launched_kernels)
		text_wrap_print(
			out, 2,
			"\nError: none of the kernels of %" PRId64
			" launches is in this trace: it says nothing about "
			"the GPU\n",
			account->launched_kernels);
	else if (without > 0)
		text_wrap_print(out, 2,
				"\nLosses: of %" PRId64
				" launches of kernels %" PRId64
				" have no kernel in this trace\n",
				account->launched_kernels, without);
	if (account->partial_graphs > 0)
		text_wrap_print(out, 2,
				"\nLosses: of %" PRId64
				" launches of graphs some "
				"kernels are not in this trace\n",
				account->partial_graphs);
	if (account->unsized_graphs > 0)
		text_wrap_print(
			out, 2,
			"\nNot known: whether all kernels are here of %" PRId64
			" launches of graphs whose size CUPTI does not tell\n",
			account->unsized_graphs);
	if (account->unsettled_ns > 0)
		text_wrap_print(
			out, 2,
			"\nLosses: of the last %s, and of what came after, "
			"records of the GPU may be missing: CUPTI had not "
			"handed them over\n",
			quantity_time((double)account->unsettled_ns).text);
}

/* Times of which CUPTI told us nothing. */
static void print_silence(const struct trace_metadata *account, FILE *out)
{
	if (account->taken_ns > 0)
		text_wrap_print(
			out, 2,
			"\nNot recorded: what the GPU did while another "
			"profiler in the program had CUPTI, %s\n",
			quantity_time((double)account->taken_ns).text);
	if (account->silent > 0)
		text_wrap_print(
			out, 2,
			"\nNot known: whether the GPU did anything: CUPTI gave "
			"no sign in this time; if there was work, another "
			"profiler in the program has taken CUPTI unseen\n");
}

/* Of records that are no kernel's nobody else would know. */
static void print_missing_records(const struct trace_metadata *account,
				  FILE *out)
{
	if (account->dropped_records > 0)
		text_wrap_print(out, 2,
				"\nLosses: CUPTI had no room for %" PRId64
				" records of the GPU\n",
				account->dropped_records);
	if (account->lost_buffers > 0)
		text_wrap_print(
			out, 2,
			"\nLosses: %" PRId64
			" buffers with records of the GPU: "
			"there was no room for them, or another profiler in "
			"the program got them\n",
			account->lost_buffers);
	if (account->without_time > 0)
		text_wrap_print(out, 2,
				"\nLosses: %" PRId64
				" records of the GPU had no "
				"time and are left out\n",
				account->without_time);
	if (account->unfinished > 0)
		text_wrap_print(out, 2,
				"\nLosses: of %" PRId64
				" of these the work was not "
				"done when it had been waited for as long as "
				"was to be\n",
				account->unfinished);
	if (account->unknown_records > 0)
		text_wrap_print(out, 2,
				"\nNot recorded: %" PRId64
				" records of CUPTI's were of unknown kinds, or "
				"too short\n",
				account->unknown_records);
}

static void print_missing_links(const struct trace_metadata *account, FILE *out)
{
	if (account->unpaired_calls > 0)
		text_wrap_print(
			out, 2,
			"\nNot known: whether %" PRId64 " calls of CUDA's "
			"driver were made by calls of its runtime, which are "
			"here too\n",
			account->unpaired_calls);
	if (account->unknown_captures > 0)
		text_wrap_print(
			out, 2,
			"\nNot known: whether %" PRId64 " launches went into "
			"a graph: they count as launches without a kernel\n",
			account->unknown_captures);
	if (account->cut_annotations > 0)
		text_wrap_print(
			out, 2,
			"\nLosses: of %" PRId64 " ranges the GPU's part is "
			"missing or too short: too many waited for it\n",
			account->cut_annotations);
	if (account->calls_without_operation > 0)
		text_wrap_print(out, 2,
				"\nLosses: of %" PRId64
				" calls of CUDA it is not "
				"known in which range or operator they lie\n",
				account->calls_without_operation);
	if (account->waits_without_recording > 0)
		text_wrap_print(
			out, 2,
			"\nNot known: for which stream %" PRId64 " waits for "
			"an event of CUDA's were: it was recorded before this "
			"file begins, or too long ago\n",
			account->waits_without_recording);
	if (account->crossing_slices > 0)
		text_wrap_print(out, 2,
				"\nDrawn over others: %" PRId64
				" slices of the GPU: "
				"too many overlap for rows of their own\n",
				account->crossing_slices);
}

static void print_cut(const struct trace_metadata *account, FILE *out)
{
	/* Older files don't say why. */
	if (account->outside < 0 && (account->dropped > 0 || account->cut > 0))
		text_wrap_print(out, 2,
				"\nLosses: of %" PRId64 " events %" PRId64
				" were dropped and %" PRId64 " cut\n",
				account->seen, account->dropped, account->cut);
	if (account->outside < 0)
		return;
	if (account->dropped > 0 || account->past_max > 0)
		text_wrap_print(out, 2,
				"\nLosses: of %" PRId64 " events %" PRId64
				" were dropped and %" PRId64
				" came past TRACEPROF_MAX_MB\n",
				account->seen, account->dropped,
				account->past_max);
	if (account->outside > 0)
		text_wrap_print(out, 2,
				"\nNot recorded: %" PRId64
				" events lay outside the "
				"windows\n",
				account->outside);
	if (account->unwritable > 0)
		text_wrap_print(out, 2,
				"\nNot recorded: %" PRId64
				" events had no finite "
				"value, or no memory was left to write them\n",
				account->unwritable);
}

static void print_names(const struct trace_metadata *account, FILE *out)
{
	if (account->names_refused > 0)
		text_wrap_print(out, 2,
				"\nLosses: %" PRId64 " times there was no room "
				"for one more name\n",
				account->names_refused);
	if (account->unnamed > 0)
		text_wrap_print(out, 2,
				"\nLosses: %" PRId64
				" events lost their names: there "
				"were too many different ones\n",
				account->unnamed);
}

static void print_calls(const struct trace_metadata *account, FILE *out)
{
	const int64_t others =
		account->unrecorded_calls - account->held_up_calls;

	if (others > 0)
		text_wrap_print(out, 2,
				"\nLosses: %" PRId64
				" call%s left no event: of "
				"threads without room, or nested too deep\n",
				others, plural(others));
	if (account->held_up_calls > 0)
		text_wrap_print(out, 2,
				"\nLosses: %" PRId64 " call%s came while the "
				"start of the recording was held up\n",
				account->held_up_calls,
				plural(account->held_up_calls));
	if (account->missed_calls > 0)
		text_wrap_print(
			out, 2,
			"\nNot recorded: %" PRId64
			" call%s that came inside of "
			"others, of signal handlers or the loader, or of "
			"threads at their end\n",
			account->missed_calls, plural(account->missed_calls));
}

void report_print_losses(const struct report *report, FILE *out)
{
	const struct trace_metadata *account = &report->metadata;

	print_cut(account, out);
	if (account->waits_lost > 0)
		text_wrap_print(
			out, 2,
			"\nLosses: %" PRId64 " of %" PRId64 " waits at the "
			"ends of regions are not drawn: too many regions ended "
			"in between\n",
			account->waits_lost, account->waits_begun);
	print_names(account, out);
	print_missing_kernels(account, out);
	print_silence(account, out);
	print_missing_records(account, out);
	print_missing_links(account, out);
	print_calls(account, out);
}

/* They can't be thinned: others lie in them. */
void report_print_python_end(const struct report *report, FILE *out)
{
	const int64_t start_ns = report_start_ns(report);
	const int64_t ended_ns = report->metadata.python_ended_ns;

	if (ended_ns < 0)
		return;
	if (ended_ns <= start_ns)
		text_wrap_print(
			out, 2,
			"\nNo calls of Python are in this file: before it they "
			"cost more than TRACEPROF_MAX_OVERHEAD, and ended.  A "
			"larger one records more (0: all); where "
			"TRACEPROF_STEP "
			"names the step each window has its own.\n");
	else
		text_wrap_print(
			out, 2,
			"\nCalls of Python end %s after the start, where they "
			"cost more than TRACEPROF_MAX_OVERHEAD: what they sum "
			"up to is of that part alone.  A larger one records "
			"more (0: all); TRACEPROF_ACTIVE=5 fewer steps; "
			"TRACEPROF_SAMPLE=499 samples in their place.\n",
			quantity_time((double)(ended_ns - start_ns)).text);
}
