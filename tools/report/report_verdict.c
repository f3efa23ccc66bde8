/* SPDX-License-Identifier: MIT */
/*
 * report_verdict.c - what the numbers mean, in plain words.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/util/short_name.h"
#include "tools/report/report.h"

/* From where on something is worth a sentence. */
#define WAIT_SHARE_MIN	 0.10
#define UNEVEN_SHARE_MIN 0.5
#define SLOW_STEP_MIN	 1.5
#define GPU_IDLE_MIN	 0.30

static void say(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct report *report, const char *format, ...)
{
	va_list args;
	char *line;

	if (report->verdict_count == REPORT_LINES_MAX)
		return;
	va_start(args, format);
	if (vasprintf(&line, format, args) >= 0)
		report->verdict[report->verdict_count++] = line;
	va_end(args);
}

/* Of regions that are in the file in part only nothing is said. */
static void judge_regions(struct report *report)
{
	const struct region_total *worst = NULL;
	struct text_buffer name = {0};
	int64_t work = 0, wait = 0;
	double share, saved;

	for (size_t at = report->region_count; at-- > 0;) {
		if (!report->region_list[at].calls)
			continue;
		worst = &report->region_list
				 [at]; /* the longest wait is first */
		saturate_into(&work, worst->work_ns);
		saturate_into(&wait, worst->wait_ns);
	}
	if (!worst || saturate_add(work, wait) <= 0)
		return;
	share = (double)wait / ((double)work + (double)wait);
	saved = worst->judged_ns
			? (double)worst->uneven_ns / (double)worst->judged_ns
			: 0;
	short_name_add(&name, worst->name);
	if (share < WAIT_SHARE_MIN)
		say(report,
		    "OpenMP: %.1f %% of the thread time in parallel regions "
		    "was spent waiting.",
		    100 * share);
	else if (saved >= UNEVEN_SHARE_MIN)
		say(report,
		    "OpenMP: %.0f %% of the thread time in parallel regions "
		    "was spent waiting: region %s is imbalanced (max/mean "
		    "%.2f).",
		    100 * share, name.data, worst->imbalance);
	else if (worst->imbalance <= 0)
		say(report,
		    "OpenMP: %.0f %% of the thread time in parallel regions "
		    "was spent waiting, most of it in region %s.",
		    100 * share, name.data);
	else
		say(report,
		    "OpenMP: %.0f %% of the thread time in parallel regions "
		    "was spent waiting, most of it in region %s.  Perfectly "
		    "even work would save %.0f %% of that: many short "
		    "regions, locks or too few processors may be the cause.",
		    100 * share, name.data, 100 * saved);
	text_buffer_free(&name);
}

static void judge_steps(struct report *report)
{
	const struct report_steps *steps = &report->steps;
	double mean;

	if (!steps->count) {
		say(report, "No steps found: call traceprof_step() or set "
			    "TRACEPROF_STEP to see them.");
		return;
	}
	mean = (double)steps->total_ns / (double)steps->count;
	if (steps->count > 2 && (double)steps->max_ns > SLOW_STEP_MIN * mean)
		say(report,
		    "Step %" PRId64 " took %s, %.1f times the mean of %s.",
		    steps->slowest, quantity_time((double)steps->max_ns).text,
		    (double)steps->max_ns / mean, quantity_time(mean).text);
	else
		say(report, "%" PRId64 " step%s, %s each on average.",
		    steps->count, steps->count == 1 ? "" : "s",
		    quantity_time(mean).text);
}

static void judge_heap(struct report *report)
{
	const struct trace_metadata *heap = &report->metadata;
	const int64_t peak = heap->heap_peak_bytes >= 0
				     ? heap->heap_peak_bytes
				     : report->heap_events.peak_bytes;

	if (peak <= 0)
		return;
	if (heap->heap_live_bytes > 0)
		say(report, "The heap peaked at %s; %s were live at the end.",
		    quantity_bytes((double)peak).text,
		    quantity_bytes((double)heap->heap_live_bytes).text);
	else
		say(report, "The heap peaked at %s.",
		    quantity_bytes((double)peak).text);
}

static void judge_devices(struct report *report)
{
	const double wall = (double)report_wall_ns(report);

	for (unsigned int at = 0; at < REPORT_DEVICES_MAX; at++) {
		const struct report_device *device = &report->devices[at];
		double idle;

		if (!report_is_used(device) || wall <= 0)
			continue;
		if (device->throttled_ns)
			say(report,
			    "GPU %u was throttled %.0f %% of the time: %s.", at,
			    100 * (double)device->throttled_ns / wall,
			    device->throttling);
		idle = 1 - (double)busy_time_sum(&device->busy) / wall;
		if (idle >= GPU_IDLE_MIN)
			say(report, "GPU %u was idle %.0f %% of the time.", at,
			    100 * idle);
	}
}

static void judge_side(struct report *report)
{
	const struct report_managed *managed = &report->managed;
	char *failures = report_side_failures(report);

	if (failures)
		say(report, "%s", failures);
	free(failures);
	if (managed->gpu_faults || managed->host_faults)
		say(report,
		    "Managed memory: %" PRId64 " page faults of GPUs, %" PRId64
		    " of the host; %s went to GPUs and %s came back.",
		    managed->gpu_faults, managed->host_faults,
		    quantity_bytes((double)managed->to_gpu_bytes).text,
		    quantity_bytes((double)managed->to_host_bytes).text);
}

static void judge_losses(struct report *report)
{
	const struct trace_metadata *account = &report->metadata;

	if (account->dropped > 0)
		say(report,
		    "%" PRId64 " of %" PRId64 " events were lost because "
		    "buffers were full: raise TRACEPROF_BUFFER_MB or set "
		    "TRACEPROF_ON_FULL=wait.",
		    account->dropped, account->seen);
	if (account->unrecorded_calls > 0)
		say(report,
		    "Some calls left no event (%" PRId64
		    " calls): their threads found no room (raise "
		    "TRACEPROF_BUFFER_MB), or they were nested too deep.",
		    account->unrecorded_calls);
	if (account->past_max > 0)
		say(report,
		    "%" PRId64 " events came past TRACEPROF_MAX_MB and are in "
		    "the totals alone.",
		    account->past_max);
	else if (account->outside < 0 && account->cut > 0)
		say(report,
		    "%" PRId64 " events were seen outside the window or past "
		    "TRACEPROF_MAX_MB and are not in the file.",
		    account->cut);
}

/* A file that isn't what its schedule asked for. */
static void judge_schedule(struct report *report)
{
	const struct trace_metadata *metadata = &report->metadata;
	int len = 0;

	if (metadata->schedule <= 0 || metadata->is_by_hand)
		return;
	if (metadata->missed_windows > 0)
		len = asprintf(&report->warning,
			       "The schedule missed %" PRId64
			       " of its windows: writing was too slow.",
			       metadata->missed_windows);
	else if (metadata->first_step < 0 && metadata->steps_seen > 0)
		len = asprintf(&report->warning,
			       "The run had %" PRId64 " steps, too few for the "
			       "schedule: this is the whole run.",
			       metadata->steps_seen);
	else if (metadata->first_step < 0 && !metadata->steps_seen)
		len = asprintf(&report->warning,
			       "No step was found, so the schedule did "
			       "nothing: this is the whole run.");
	if (len < 0)
		report->warning = NULL;
}

void report_verdict(struct report *report)
{
	judge_schedule(report);
	judge_regions(report);
	judge_devices(report);
	judge_steps(report);
	judge_side(report);
	judge_heap(report);
	judge_losses(report);
}
