/* SPDX-License-Identifier: MIT */
/*
 * rules_gil.c - threads that wait for Python's lock, which one of them has.
 */
#include "tools/verdict/rules.h"

#include <stdlib.h>
#include <string.h>

#include "tools/model/sample_time.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define GIL_NAME "wait: GIL"

struct period {
	int64_t start_ns, end_ns;
};

/* When the judged thread may wait for others: in calls that wait, but for the
 * lock itself.  In the order of time. */
struct held_up {
	const struct timeline *timeline;
	struct period *periods;
	size_t count, capacity;
	bool always;
};

static void add_wait(void *arg, int64_t start_ns, int64_t end_ns,
		     enum host_kind kind, uint32_t name)
{
	struct held_up *held_up = arg;

	if (kind != HOST_OFF || name == TIMELINE_NONE ||
	    !strcmp(timeline_name_text(held_up->timeline, name), GIL_NAME))
		return;
	held_up->periods =
		memory_grow(held_up->periods, held_up->count,
			    &held_up->capacity, sizeof(*held_up->periods));
	held_up->periods[held_up->count++] = (struct period){start_ns, end_ns};
}

/* Where another thread than the first one is judged, the first one waits for
 * those that work. */
static struct held_up held_up_of(const struct verdict_facts *facts)
{
	struct held_up held_up = {
		.timeline = facts->timeline,
		.always = facts->split.is_busiest,
	};

	timeline_walk(facts->timeline, facts->split.lane, add_wait, &held_up);
	return held_up;
}

/* How much of a wait of another thread lies in these; `from`: the first one
 * that isn't over, as waits come in the order of time. */
static int64_t held_up_in(const struct held_up *held_up, int64_t start_ns,
			  int64_t end_ns, size_t *from)
{
	int64_t sum_ns = 0;

	if (held_up->always)
		return end_ns - start_ns;
	while (*from < held_up->count &&
	       held_up->periods[*from].end_ns <= start_ns)
		++*from;
	for (size_t at = *from;
	     at < held_up->count && held_up->periods[at].start_ns < end_ns;
	     at++) {
		const struct period *one = &held_up->periods[at];

		sum_ns += (one->end_ns < end_ns ? one->end_ns : end_ns) -
			  (one->start_ns > start_ns ? one->start_ns : start_ns);
	}
	return sum_ns;
}

/* Of a thread in the typical steps, as far as they hold up the judged one. */
struct gil_waits {
	double ns;
	const struct span *worst;
};

static struct gil_waits waits_of(const struct verdict_facts *facts,
				 const struct held_up *held_up, uint32_t at)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane = timeline_lane(timeline, at);
	struct gil_waits waits = {0, NULL};
	size_t from = 0;

	for (size_t i = 0; i < lane->count; i++) {
		const struct span *span = &lane->spans[i];
		int64_t ns;

		if (!is_judged(facts, span->start_ns) ||
		    strcmp(timeline_name_text(timeline, span->name), GIL_NAME))
			continue;
		ns = timeline_dur_ns(timeline, at, span);
		if (at != facts->split.lane)
			ns = held_up_in(held_up, span->start_ns,
					span->start_ns + ns, &from);
		waits.ns += (double)ns;
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
	struct held_up held_up = held_up_of(facts);

	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		const struct gil_waits waits = waits_of(facts, &held_up, at);

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
	free(held_up.periods);
	return threads;
}

/* The step's own thread waits; or, in a run without steps, threads for which
 * the first one waits meanwhile.  With a lock less there are still no more
 * processors. */
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

/* PyTorch's loader gives its workers' threads that name. */
static bool is_loader_worker(const struct verdict_facts *facts)
{
	const struct timeline_lane *lane =
		timeline_lane(facts->timeline, facts->split.lane);

	return lane && lane->label && strstr(lane->label, "(pt_data_worker)");
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
	    is_loader_worker(facts)
		    ? "move that into code that gives the lock back (NumPy, "
		      "C), or have more workers without such threads."
		    : "move that to another process (multiprocessing, the "
		      "loader's workers), or into code that gives the lock "
		      "back (NumPy, C).");
	say_place(facts, finding, threads.mine.worst->start_ns,
		  threads.most_lane, threads.mine.worst->name);
	return true;
}
