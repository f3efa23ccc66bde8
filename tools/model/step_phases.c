/* SPDX-License-Identifier: MIT */
/*
 * step_phases.c - each phase's slices, cut at the steps; see step_phases.h.
 */
#include "tools/model/step_phases.h"

#include <stdio.h>
#include <string.h>

#include "tools/util/numbers.h"

#define PREFIX "phase: "

static const char *const texts[STEP_PHASES] = {
	[STEP_DATA] = "data",	      [STEP_FORWARD] = "forward",
	[STEP_BACKWARD] = "backward", [STEP_OPTIMIZER] = "optimizer",
	[STEP_OTHER] = "other",
};

const char *phases_text(enum step_phase phase)
{
	return texts[phase];
}

static long long process_of(const struct timeline *timeline, uint32_t lane)
{
	long long pid;

	return sscanf(key_table_key(&timeline->lanes.table, lane, NULL), "%lld",
		      &pid) == 1
		       ? pid
		       : -1;
}

enum step_phase phases_of(const struct timeline *timeline, uint32_t name)
{
	const char *text = timeline_name_text(timeline, name);
	unsigned int at = 0;

	if (strncmp(text, PREFIX, sizeof(PREFIX) - 1) != 0 ||
	    strcmp(timeline_category(timeline, name), "user_annotation") != 0)
		return STEP_PHASES;
	while (at < STEP_PHASES &&
	       strcmp(text + sizeof(PREFIX) - 1, texts[at]) != 0)
		at++;
	return (enum step_phase)at;
}

static void add_lane(const struct timeline *timeline, const struct split *split,
		     uint32_t at, int64_t ns[STEP_PHASES])
{
	const struct timeline_lane *lane = timeline_lane(timeline, at);

	for (size_t i = 0; i < lane->count; i++) {
		const struct span *span = &lane->spans[i];
		const enum step_phase phase = phases_of(timeline, span->name);

		if (phase != STEP_PHASES)
			saturate_into(
				&ns[phase],
				split_typical_ns(
					split, span->start_ns,
					span->start_ns +
						timeline_dur_ns(timeline, at,
								span)));
	}
}

bool phases_sum(const struct timeline *timeline, const struct split *split,
		int64_t ns[STEP_PHASES])
{
	const uint32_t lanes = timeline->lanes.table.count;
	int64_t sum_ns = 0;
	long long process;

	memset(ns, 0, STEP_PHASES * sizeof(*ns));
	if (split->lane >= lanes)
		return false;
	process = process_of(timeline, split->lane);
	for (uint32_t at = 0; at < lanes; at++)
		if (process_of(timeline, at) == process)
			add_lane(timeline, split, at, ns);
	for (unsigned int at = 0; at < STEP_PHASES; at++)
		saturate_into(&sum_ns, ns[at]);
	return sum_ns > 0 && sum_ns <= split->total_ns;
}

bool phases_span(const struct timeline *timeline, int64_t *start_ns,
		 int64_t *end_ns)
{
	size_t backward = 0;

	*start_ns = INT64_MAX;
	*end_ns = INT64_MIN;
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct timeline_lane *lane = timeline_lane(timeline, at);

		for (size_t i = 0; i < lane->count; i++) {
			const struct span *span = &lane->spans[i];
			const int64_t end = span->start_ns +
					    timeline_dur_ns(timeline, at, span);
			const enum step_phase phase =
				phases_of(timeline, span->name);

			if (phase == STEP_PHASES)
				continue;
			backward += phase == STEP_BACKWARD;
			if (span->start_ns < *start_ns)
				*start_ns = span->start_ns;
			if (end > *end_ns)
				*end_ns = end;
		}
	}
	return backward >= SPLIT_STEPS_MIN;
}
