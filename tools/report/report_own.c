/* SPDX-License-Identifier: MIT */
/*
 * report_own.c - a row's own time, without what lies inside its slices, and the
 * GPU's time of what was launched in them.
 *
 * Of names the timeline knows both.  Rows of another kind, of a step or of a
 * shape, have their slices kept and walked once all were read.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/report/report.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* A slice that is open, and whose row. */
struct own_open {
	int64_t end_ns;
	uint32_t row;
};

struct own_walk {
	struct report *report;
	const struct timeline_lane *lane; /* with its launches, NULL none */
	size_t next_launch;
	struct own_open *open;
	size_t depth, capacity;
};

void report_own_add(struct report *report, const struct trace_event *event,
		    const char *category, uint32_t lane, uint32_t row)
{
	struct report_lane *thread = key_table_row(&report->lanes.table, lane);
	const bool is_call = !strcmp(category, "cuda_runtime") ||
			     !strcmp(category, "cuda_driver");

	if (timeline_is_beside(category) || report_is_work(category))
		return;
	lane_spans_add(&thread->own,
		       (struct lane_span){event->ts_ns,
					  event->ts_ns + event->dur_ns, row,
					  is_call, false});
}

static struct total *row_at(const struct own_walk *walk, uint32_t row)
{
	return row == TIMELINE_NONE
		       ? NULL
		       : key_table_row(&walk->report->tally.rows, row);
}

/* The call's launch, if it is one; both are in the order of their starts. */
static const struct launch *launch_at(struct own_walk *walk, int64_t start_ns)
{
	const struct timeline_lane *lane = walk->lane;

	while (lane && walk->next_launch < lane->launch_count &&
	       lane->launches[walk->next_launch].start_ns < start_ns)
		walk->next_launch++;
	if (!lane || walk->next_launch == lane->launch_count ||
	    lane->launches[walk->next_launch].start_ns != start_ns)
		return NULL;
	return &lane->launches[walk->next_launch++];
}

static bool is_twice(const struct own_walk *walk, size_t depth)
{
	for (size_t at = depth; at-- > 0;)
		if (walk->open[at].row == walk->open[depth].row)
			return true;
	return false;
}

static void add_launch(struct own_walk *walk, int64_t start_ns)
{
	const struct launch *launch = launch_at(walk, start_ns);

	for (size_t at = launch ? walk->depth : 0; at-- > 0;) {
		struct total *row = row_at(walk, walk->open[at].row);

		if (row && !is_twice(walk, at))
			saturate_into(&row->gpu_ns, launch->gpu_ns);
	}
}

static bool on_span(void *arg, const struct lane_span *outer,
		    struct lane_span *span)
{
	struct own_walk *walk = arg;
	struct total *row = row_at(walk, span->name);
	struct total *above = outer ? row_at(walk, outer->name) : NULL;
	const int64_t dur_ns = span->end_ns - span->start_ns;

	while (walk->depth &&
	       walk->open[walk->depth - 1].end_ns <= span->start_ns)
		walk->depth--;
	if (row)
		row->self_ns = saturate_add(row->self_ns > 0 ? row->self_ns : 0,
					    dur_ns);
	if (above)
		above->self_ns = saturate_subtract(
			above->self_ns, lane_span_inside_ns(outer, span));
	if (span->mark)
		add_launch(walk, span->start_ns);
	walk->open = memory_grow(walk->open, walk->depth, &walk->capacity,
				 sizeof(*walk->open));
	walk->open[walk->depth++] = (struct own_open){span->end_ns, span->name};
	return true;
}

static void walk_lanes(struct report *report)
{
	const struct key_table *lanes = &report->timeline.lanes.table;
	struct own_walk walk = {.report = report};

	for (size_t at = 0; at < report->lanes.table.count; at++) {
		struct report_lane *lane =
			key_table_row(&report->lanes.table, at);
		size_t len;
		const char *key = key_table_key(&report->lanes.table, at, &len);

		walk.lane = key_table_find(lanes, key, len);
		walk.next_launch = walk.depth = 0;
		lane_spans_walk(&lane->own, on_span, &walk);
		lane_spans_free(&lane->own);
	}
	free(walk.open);
}

/* Calls of one name at several places are several names of the timeline. */
static void take_names(struct report *report)
{
	const struct key_table *names = &report->timeline.names;

	for (size_t at = 0; at < names->count; at++) {
		const struct timeline_name *name = key_table_row(names, at);
		const char *key = key_table_key(names, at, NULL);
		const char *text = key + strlen(key) + 1;
		struct total *row =
			key_table_find(&report->tally.rows, key,
				       (size_t)(text - key) + strlen(text));

		if (!row || name->is_gpu)
			continue;
		row->self_ns = saturate_add(row->self_ns > 0 ? row->self_ns : 0,
					    name->self_ns);
		saturate_into(&row->gpu_ns, name->gpu_ns);
		saturate_into(&row->gpu_self_ns, name->gpu_self_ns);
	}
}

void report_own(struct report *report)
{
	struct key_table *rows = &report->tally.rows;

	for (size_t at = 0; at < rows->count; at++)
		((struct total *)key_table_row(rows, at))->self_ns = -1;
	if (report->timeline.left_out)
		return;
	if (report->choice.by == BY_NAME)
		take_names(report);
	else
		walk_lanes(report);
}
