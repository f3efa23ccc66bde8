/* SPDX-License-Identifier: MIT */
/*
 * gpu_phases.c - what a GPU does for each phase of a step: the work that was
 * launched in it, whenever it runs.
 */
#include "tools/model/step_phases.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

struct phase_span {
	int64_t start_ns, end_ns;
	enum step_phase phase;
};

struct phase_spans {
	struct phase_span *list;
	size_t count, capacity;
};

static int compare_starts(const void *left, const void *right)
{
	const struct phase_span *a = left, *b = right;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static void take_lane(struct phase_spans *spans,
		      const struct timeline *timeline, uint32_t at)
{
	const struct timeline_lane *lane = timeline_lane(timeline, at);

	for (size_t i = 0; i < lane->count; i++) {
		const struct span *span = &lane->spans[i];
		const enum step_phase phase = phases_of(timeline, span->name);

		if (phase == STEP_PHASES)
			continue;
		spans->list =
			memory_grow(spans->list, spans->count, &spans->capacity,
				    sizeof(*spans->list));
		spans->list[spans->count++] = (struct phase_span){
			span->start_ns,
			span->start_ns + timeline_dur_ns(timeline, at, span),
			phase};
	}
}

/* STEP_PHASES: it lies in none. */
static enum step_phase at_moment(const struct phase_spans *spans, int64_t ns)
{
	size_t from = 0, to = spans->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (spans->list[middle].start_ns <= ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from && ns < spans->list[from - 1].end_ns
		       ? spans->list[from - 1].phase
		       : STEP_PHASES;
}

bool phases_gpu(const struct timeline *timeline, const struct split *split,
		int64_t ns[STEP_PHASES], int64_t *all_ns)
{
	struct phase_spans spans = {0};

	*all_ns = 0;
	memset(ns, 0, STEP_PHASES * sizeof(*ns));
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++)
		take_lane(&spans, timeline, at);
	if (spans.count)
		qsort(spans.list, spans.count, sizeof(*spans.list),
		      compare_starts);
	for (size_t at = 0; spans.count && at < timeline->work_count; at++) {
		const struct gpu_work *work = &timeline->work[at];
		uint32_t lane;
		const struct launch *launch =
			timeline_launch_of(timeline, work->correlation, &lane);
		enum step_phase phase;

		if (!launch || !split_typical_ns(split, launch->start_ns,
						 launch->start_ns + 1))
			continue;
		phase = at_moment(&spans, launch->start_ns);
		saturate_into(all_ns, timeline_work_ns(timeline, work));
		if (phase != STEP_PHASES)
			saturate_into(&ns[phase],
				      timeline_work_ns(timeline, work));
	}
	free(spans.list);
	return *all_ns > 0;
}
