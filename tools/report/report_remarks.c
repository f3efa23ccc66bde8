/* SPDX-License-Identifier: MIT */
/*
 * report_remarks.c - what no table and no finding says.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "tools/util/numbers.h"
#include "tools/report/report.h"

static void say(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct report *report, const char *format, ...)
{
	va_list args;
	char *line;

	if (report->remark_count == REPORT_LINES_MAX)
		return;
	va_start(args, format);
	if (vasprintf(&line, format, args) >= 0)
		report->remarks[report->remark_count++] = line;
	va_end(args);
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

/* A GPU that is behind runs them in a window, but no step of it asked for
 * them. */
static void judge_earlier(struct report *report)
{
	const struct split *split = &report->judged.facts.split;
	int64_t all = 0;

	for (size_t at = 0; at < REPORT_DEVICES_MAX; at++)
		saturate_into(&all, report->devices[at].calls[WORK_KERNEL]);
	if (split->earlier_kernels)
		say(report,
		    "Launched before this file begins: %" PRId64 " of %" PRId64
		    " kernels, %s of the GPU's work. They run in it, but no "
		    "step here launched them.",
		    split->earlier_kernels, all,
		    quantity_time((double)split->earlier_ns).text);
}

/* A file that isn't whole, or not what its schedule asked for. */
static void judge_file(struct report *report)
{
	const struct trace_metadata *metadata = &report->metadata;
	int len = 0;

	if (report->facts.unfinished.is_so) {
		report->warning = trace_progress_text(&report->facts.unfinished,
						      report->file)
					  .data;
		return;
	}
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

void report_remark(struct report *report)
{
	char *buckets;

	judge_file(report);
	judge_side(report);
	judge_earlier(report);
	buckets = report_buckets_text(&report->buckets, &report->timeline);
	if (buckets)
		say(report, "%s", buckets);
	free(buckets);
}
