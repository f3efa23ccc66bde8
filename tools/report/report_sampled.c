/* SPDX-License-Identifier: MIT */
/*
 * report_sampled.c - a file that doesn't draw every call of a site.
 *
 * Of such a site the writer counted all calls and their time: these figures
 * take the place of those of the slices.  What the members of a team did is
 * known from the regions that are drawn alone: it is multiplied, and marked as
 * an estimate.
 */
#include "tools/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/util/text_wrap.h"

static int64_t times(int64_t number, double factor)
{
	const double product = (double)number * factor;

	return product < (double)INT64_MAX ? (int64_t)product : INT64_MAX;
}

static void scale_row(struct report *report, const char *category,
		      const char *name, double factor)
{
	struct total *row = tally_find(&report->tally, category, name);

	if (!row)
		return;
	row->calls = times(row->calls, factor);
	row->total_ns = times(row->total_ns, factor);
	row->sum_ns = times(row->sum_ns, factor);
	row->is_estimated = true;
}

/* All that a writer counted of a name is known. */
static void take_exact(struct report *report,
		       const struct trace_sampled_row *exact)
{
	const char *category = !strcmp(exact->part, "wait")   ? REPORT_WAITS
			       : !strcmp(exact->part, "held") ? "openmp"
							      : "cpu_op";
	const struct total sums = {.calls = exact->seen,
				   .total_ns = exact->total_ns,
				   .sum_ns = exact->total_ns,
				   .min_ns = exact->min_ns,
				   .max_ns = exact->max_ns};
	struct total *row = tally_find(&report->tally, category, exact->name);

	/* Of a wait there may be no slice. */
	if (row)
		row->calls = row->total_ns = row->sum_ns = 0;
	/* Those that are drawn are the long ones: how the others are spread
	 * isn't known. */
	if (row && exact->share && !strcmp(exact->share, "none")) {
		free(row->histogram);
		row->histogram = NULL;
		row->counted = 0;
	}
	tally_put(&report->tally, category, exact->name, strlen(exact->name),
		  &sums);
}

void report_scale(struct report *report)
{
	double drawn_ns = 0, all_ns = 0;

	for (size_t at = 0; at < report->sampled.count; at++) {
		const struct trace_sampled_row *row = &report->sampled.rows[at];

		if (row->name && row->part && row->seen > 0 &&
		    !trace_sampled_is_heap(row))
			take_exact(report, row);
	}
	for (size_t at = 0; at < report->region_count; at++) {
		struct region_total *region = &report->region_list[at];
		const struct trace_sampled_row *row = trace_sampled_find(
			&report->sampled, "parallel", region->name);

		drawn_ns += (double)region->wait_ns;
		if (row && row->drawn > 0) {
			const double factor =
				(double)row->seen / (double)row->drawn;

			scale_row(report, REPORT_MEMBERS, region->name, factor);
			region_total_scale(region, row);
		}
		all_ns += (double)region->wait_ns;
	}
	/* Waits at the ends of regions have one name. */
	if (all_ns > drawn_ns && drawn_ns > 0)
		scale_row(report, REPORT_WAITS, "region end wait",
			  all_ns / drawn_ns);
}

/* Of tasks and of waits: how many are in sums alone. */
void report_print_short(const struct report *report, FILE *out)
{
	static const char *const parts[] = {"explicit", "create", "wait",
					    "held"};
	static const char *const words[] = {"tasks", "creations of tasks",
					    "waits",
					    "times that a lock or "
					    "turn was held"};

	for (int at = 0; at < 4; at++) {
		const struct trace_sampled_row sum =
			trace_sampled_sum(&report->sampled, parts[at]);

		if (sum.thinned > 0)
			text_wrap_print(
				out, 2,
				"  %" PRId64 " of %" PRId64
				" %s were short and are not drawn one by one; "
				"all of them took %s%s\n",
				sum.thinned, sum.seen, words[at],
				quantity_time((double)sum.total_ns).text,
				at ? "" : ", with the tasks inside them");
	}
}
