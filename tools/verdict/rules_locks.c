/* SPDX-License-Identifier: MIT */
/*
 * rules_locks.c - what lets one thread of a team in at a time.
 */
#include "tools/verdict/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"

/* Waits of one kind: those that are drawn, or counted where none is. */
struct waits {
	const char *text; /* NULL: there are none */
	uint32_t name;	  /* in the timeline; TIMELINE_NONE: none is drawn */
	struct trace_sampled_row all;
};

/* Only one thread at a time is in critical sections: so long as they are held,
 * the others of a team can save by not being there. */
static double held_ns(const struct verdict_facts *facts, double team)
{
	const struct timeline_name *row =
		timeline_find(facts->timeline, "openmp", "critical");
	const struct trace_sampled_row *exact =
		facts->sampled
			? trace_sampled_find(facts->sampled, "held", "critical")
			: NULL;
	struct trace_sampled_row held = {0};
	double elapsed = 0;

	if (!row) /* older files */
		row = timeline_find(facts->timeline, "cpu_op", "critical");
	for (size_t at = 0; at < facts->region_count; at++)
		elapsed += (double)facts->regions[at].elapsed_ns;
	if (exact)
		held = *exact;
	else if (row)
		held = all_calls(facts, "held", row);
	return (double)held.total_ns < SERIAL_MIN * elapsed
		       ? 0
		       : facts->regions_in_steps * (double)held.total_ns *
				 (1 - 1 / team);
}

/* What to do about a construct that lets one thread in at a time. */
static const char *advice_for(const char *wait)
{
	if (strstr(wait, "ordered"))
		return "keep what has to be in order short and do the rest "
		       "before it, or collect by iteration and put it in order "
		       "after the loop.";
	if (strstr(wait, "lock"))
		return "hold the lock for less, or have one for each part of "
		       "the data.";
	if (strstr(wait, "atomic"))
		return "use reduction, or collect per thread and join once.";
	return "use reduction or atomic in its place, or collect per thread "
	       "and join once.";
}

static double add(const struct waits *waits, struct waits *worst)
{
	if (!worst->text || waits->all.total_ns > worst->all.total_ns)
		*worst = *waits;
	return (double)waits->all.total_ns;
}

static double drawn_ns(const struct verdict_facts *facts, struct waits *worst)
{
	const struct timeline *timeline = facts->timeline;
	double sum = 0;

	for (uint32_t at = 0; at < timeline->names.count; at++) {
		const struct timeline_name *row = timeline_name(timeline, at);
		const struct waits waits = {timeline_name_text(timeline, at),
					    at, all_calls(facts, "wait", row)};

		if (!row->is_gpu && row->host == HOST_OMP_LOCK)
			sum += add(&waits, worst);
	}
	return sum;
}

/* Each of them was short, so the file has none. */
static double counted_ns(const struct verdict_facts *facts, struct waits *worst)
{
	double sum = 0;

	for (size_t at = 0; facts->sampled && at < facts->sampled->count;
	     at++) {
		const struct trace_sampled_row *row = &facts->sampled->rows[at];
		const struct waits waits = {row->name, TIMELINE_NONE, *row};

		if (row->name && row->part && !strcmp(row->part, "wait") &&
		    timeline_is_team_lock(row->name) && row->seen > 0 &&
		    !row->drawn)
			sum += add(&waits, worst);
	}
	return sum;
}

bool rule_critical(const struct verdict_facts *facts, struct finding *finding)
{
	const struct timeline *timeline = facts->timeline;
	const double team =
		timeline->team_max > 0 ? (double)timeline->team_max : 1;
	struct waits worst = {0};
	const double waited_ns =
		drawn_ns(facts, &worst) + counted_ns(facts, &worst);

	finding->saved_ns = facts->regions_in_steps * waited_ns / team;
	if (held_ns(facts, team) > finding->saved_ns)
		finding->saved_ns = held_ns(facts, team);
	if (!worst.text || !is_worth(facts, finding->saved_ns, SHARE_MIN))
		return false;
	say(&finding->figure,
	    "threads wait %s for each other in %s (%" PRId64 " times)",
	    quantity_time((double)worst.all.total_ns).text,
	    short_name(worst.text).text, worst.all.seen);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_MIN);
	say(&finding->next, "%s", advice_for(worst.text));
	if (worst.name != TIMELINE_NONE)
		say_place(facts, finding,
			  timeline_name(timeline, worst.name)->longest_at_ns,
			  timeline_name(timeline, worst.name)->longest_lane,
			  worst.name);
	return true;
}
