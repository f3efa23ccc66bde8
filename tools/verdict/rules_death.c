/* SPDX-License-Identifier: MIT */
/*
 * rules_death.c - a program that died in a step that had gone on for long: it
 * hung, and somebody killed it.
 */
#include "tools/verdict/rules.h"

#include <inttypes.h>

#include "tools/util/numbers.h"
#include "tools/util/short_name.h"

/* Slices that were open at the death end with the step, to the rounding of the
 * trace's times. */
#define ROUNDING_NS 2000

/* The innermost slice of the step's thread that was open then. */
static uint32_t open_in(const struct verdict_facts *facts,
			const struct timeline_step *step)
{
	const struct timeline *timeline = facts->timeline;
	const uint32_t at = facts->split.lane;
	const int64_t end_ns = step->start_ns + step->dur_ns;
	const struct timeline_lane *lane;
	int64_t newest_ns = step->start_ns;
	uint32_t name = TIMELINE_NONE;

	if (at >= timeline->lanes.table.count)
		return TIMELINE_NONE;
	lane = timeline_lane(timeline, at);
	for (size_t i = 0; i < lane->count; i++) {
		const struct span *span = &lane->spans[i];

		if (span->start_ns < newest_ns ||
		    span->start_ns + timeline_dur_ns(timeline, at, span) <
			    end_ns - ROUNDING_NS)
			continue;
		newest_ns = span->start_ns;
		name = span->name;
	}
	return name;
}

bool rule_died(const struct verdict_facts *facts, struct finding *finding)
{
	const struct split *split = &facts->split;
	const struct timeline *timeline = facts->timeline;
	const struct timeline_step *last;
	uint32_t name;

	/* Another process may have finished what ended by itself. */
	if (facts->metadata->died_in < 0 || !timeline->step_count ||
	    !split->has_steps || split->count < STEPS_MIN)
		return false;
	last = &timeline->steps[timeline->step_count - 1];
	if (last->number != facts->metadata->died_in ||
	    last->dur_ns < HUNG_NS ||
	    (double)last->dur_ns < HUNG_MIN * split->median_ns)
		return false;
	name = open_in(facts, last);
	finding->spoils = true;
	say(&finding->figure,
	    "the program died in step %" PRId64 ", %s after that began (%.0f "
	    "medians)%s%s",
	    last->number, quantity_time((double)last->dur_ns).text,
	    (double)last->dur_ns / split->median_ns,
	    name == TIMELINE_NONE ? "" : ", in ",
	    name == TIMELINE_NONE
		    ? ""
		    : short_name(timeline_name_text(timeline, name)).text);
	say(&finding->threshold, "%.0f medians and %.1f s", HUNG_MIN,
	    (double)HUNG_NS / 1e9);
	say(&finding->next,
	    "if it hung, look at what each thread was in at the "
	    "trace's end; TRACEPROF_WAITS=1 and samples "
	    "(TRACEPROF_SAMPLE=99) show more of that.");
	return true;
}
