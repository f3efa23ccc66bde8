/* SPDX-License-Identifier: MIT */
/*
 * rules_gil.c - threads that wait for Python's lock, which one of them has.
 */
#include "tools/verdict/rules.h"

#include <stdlib.h>
#include <string.h>

#include "tools/model/sample_time.h"
#include "tools/util/numbers.h"

#define GIL_NAME "wait: GIL"

/* Of a thread in the typical steps. */
struct gil_waits {
	double ns;
	const struct span *worst;
};

static struct gil_waits waits_of(const struct verdict_facts *facts, uint32_t at)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane = timeline_lane(timeline, at);
	struct gil_waits waits = {0, NULL};

	for (size_t i = 0; i < lane->count; i++) {
		const struct span *span = &lane->spans[i];

		if (!is_judged(facts, span->start_ns) ||
		    strcmp(timeline_name_text(timeline, span->name), GIL_NAME))
			continue;
		waits.ns += (double)timeline_dur_ns(timeline, at, span);
		if (!waits.worst || span->dur > waits.worst->dur)
			waits.worst = span;
	}
	return waits;
}

/* All threads that wait for it. */
struct gil_threads {
	struct gil_waits mine, most;
	uint32_t most_lane;
	double sum_ns;
	unsigned int count; /* whose waits are worth a word */
};

static struct gil_threads threads_of(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;
	struct gil_threads threads = {.most_lane = TIMELINE_NONE};

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct gil_waits waits = waits_of(facts, at);

		if (at == facts->split.lane)
			threads.mine = waits;
		if (!is_worth(facts, waits.ns, SHARE_MIN))
			continue;
		threads.sum_ns += waits.ns;
		threads.count++;
		if (waits.ns > threads.most.ns) {
			threads.most = waits;
			threads.most_lane = at;
		}
	}
	return threads;
}

/* The step's own thread waits; or, in a run without steps, threads for which
 * the first one waits.  With a lock less there are still no more processors. */
static double saved_at_most(const struct verdict_facts *facts,
			    struct gil_threads *threads)
{
	double workers = threads->count > 1 ? (double)threads->count : 2;
	double saved_ns = threads->mine.ns, most_ns;

	if (facts->metadata->cpus > 0 &&
	    workers > (double)facts->metadata->cpus)
		workers = (double)facts->metadata->cpus;
	if (!facts->split.has_steps && threads->count > 1 &&
	    saved_ns < threads->sum_ns / threads->count) {
		saved_ns = threads->sum_ns / threads->count;
		threads->mine = threads->most;
	} else {
		threads->most_lane = facts->split.lane;
	}
	most_ns = (double)facts->split.total_ns * (1 - 1 / workers);
	return saved_ns < most_ns ? saved_ns : most_ns;
}

/* Which line of Python of other threads had the processor most; TIMELINE_NONE
 * without samples. */
static uint32_t line_of_others(const struct verdict_facts *facts, uint32_t lane)
{
	const struct timeline *timeline = facts->timeline;
	struct sample_time *times =
		sample_times_but(timeline, &facts->split, lane);
	uint32_t line = TIMELINE_NONE;

	for (uint32_t at = 0; at < timeline->names.count; at++)
		if (times[at].ns > 0 &&
		    !strcmp(timeline_category(timeline, at),
			    "python_function") &&
		    (line == TIMELINE_NONE || times[at].ns > times[line].ns))
			line = at;
	free(times);
	return line;
}

bool rule_gil(const struct verdict_facts *facts, struct finding *finding)
{
	struct gil_threads threads;
	uint32_t line;

	if (!facts->timeline->lanes.table.count)
		return false;
	threads = threads_of(facts);
	finding->saved_ns = saved_at_most(facts, &threads);
	if (!is_worth(facts, finding->saved_ns, SHARE_HIGH_MIN) ||
	    !threads.mine.worst)
		return false;
	line = line_of_others(facts, threads.most_lane);
	say(&finding->figure,
	    "%s a step of waiting for Python's lock (GIL), while other "
	    "threads run Python%s%s",
	    quantity_time(threads.mine.ns / steps_of(facts)).text,
	    line == TIMELINE_NONE ? "" : ", most of all ",
	    line == TIMELINE_NONE
		    ? ""
		    : short_name(timeline_name_text(facts->timeline, line))
			      .text);
	say(&finding->threshold, "%.0f %% of the step", 100 * SHARE_HIGH_MIN);
	say(&finding->next,
	    "move that to another process (multiprocessing, the loader's "
	    "workers), or into code that gives the lock back (NumPy, C).");
	say_place(facts, finding, threads.mine.worst->start_ns,
		  threads.most_lane, threads.mine.worst->name);
	return true;
}
