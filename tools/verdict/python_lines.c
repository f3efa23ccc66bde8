/* SPDX-License-Identifier: MIT */
/*
 * python_lines.c - which function of Python calls an operator.
 */
#include "tools/verdict/python_lines.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/verdict/line_shares.h"
#include "tools/verdict/rules.h"

/* Of fewer steps none is left out. */
#define LINES_STEPS 20

/* The program's functions that are open, outermost first. */
struct open_function {
	int64_t end_ns;
	uint32_t name;
};

struct open_functions {
	struct open_function *list;
	size_t count, capacity;
};

static void enter(struct open_functions *open, int64_t end_ns, uint32_t name)
{
	open->list = memory_grow(open->list, open->count, &open->capacity,
				 sizeof(*open->list));
	open->list[open->count++] = (struct open_function){end_ns, name};
}

bool waits_in_python(const char *name)
{
	static const char *const waits[] = {"method acquire of _thread.",
					    "method __enter__ of _thread.",
					    " of select.",
					    "function select>",
					    "function sleep>",
					    "function waitpid>",
					    "function wait4>",
					    "method accept of _socket.",
					    "method recv of _socket.",
					    "method get of _queue."};

	if (strncmp(name, "<built-in ", 10))
		return false;
	for (size_t at = 0; at < sizeof(waits) / sizeof(waits[0]); at++)
		if (strstr(name, waits[at]))
			return true;
	return false;
}

/* How many there are in each function, by the function's name. */
static void count_functions(const struct verdict_facts *facts,
			    struct wanted_calls wanted, double *calls)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_lane *lane =
		timeline_lane(timeline, facts->split.lane);
	struct open_functions open = {0};

	for (size_t at = 0; lane && at < lane->count; at++) {
		const struct span *span = &lane->spans[at];
		const int64_t dur_ns =
			timeline_dur_ns(timeline, facts->split.lane, span);

		while (open.count &&
		       open.list[open.count - 1].end_ns <= span->start_ns)
			open.count--;
		if (is_wanted_call(&wanted, span, dur_ns) && open.count)
			calls[open.list[open.count - 1].name]++;
		if (is_own_function(timeline, span->name))
			enter(&open, span->start_ns + dur_ns, span->name);
	}
	free(open.list);
}

/* Of the calls of typical steps on the critical thread that tell it. */
static bool counts(const struct verdict_facts *facts,
		   const struct called_line *call)
{
	return call->lane == facts->split.lane && is_judged(facts, call->ns);
}

double *called_straight(const struct verdict_facts *facts, double *all)
{
	const struct timeline *timeline = facts->timeline;
	double *calls = calloc(timeline->names.count + 1, sizeof(*calls));

	*all = 0;
	for (size_t at = 0; calls && at < timeline->called.count; at++) {
		const struct called_line *call = &timeline->called.list[at];

		if (!counts(facts, call))
			continue;
		++*all;
		calls[call->name] += !call->is_below;
	}
	return calls;
}

double *called_by_line(const struct verdict_facts *facts, double *all)
{
	const struct called_lines *called = &facts->timeline->called;
	double *calls = calloc(called->lines.count + 1, sizeof(*calls));

	*all = 0;
	for (size_t at = 0; calls && at < called->count; at++) {
		const struct called_line *call = &called->list[at];

		if (!counts(facts, call))
			continue;
		calls[call->line]++;
		++*all;
	}
	return calls;
}

struct called_line *called_in_order(const struct verdict_facts *facts,
				    size_t *count)
{
	const struct called_lines *called = &facts->timeline->called;
	struct called_line *list = calloc(called->count + 1, sizeof(*list));

	*count = 0;
	for (size_t at = 0; list && at < called->count; at++)
		if (called->list[at].lane == facts->split.lane)
			list[(*count)++] = called->list[at];
	if (list)
		qsort(list, *count, sizeof(*list), called_lines_compare);
	return list;
}

/* The one of `count` that has most, or TIMELINE_NONE. */
static uint32_t most_of(const double *calls, size_t count)
{
	uint32_t most = TIMELINE_NONE;

	for (uint32_t at = 0; at < count; at++)
		if (calls[at] > 0 &&
		    (most == TIMELINE_NONE || calls[at] > calls[most]))
			most = at;
	return most;
}

/* One that has most of all calls, or two that have them together. */
static struct in_line most_in(double *calls, size_t count, double all,
			      const char *(*text)(const struct timeline *,
						  uint32_t),
			      const struct timeline *timeline)
{
	struct in_line line = {""};
	const uint32_t first = most_of(calls, count);
	double sum;
	uint32_t second;

	if (first == TIMELINE_NONE)
		return line;
	sum = calls[first];
	calls[first] = 0;
	second = most_of(calls, count);
	if (sum >= MOST_CALLS_MIN * all)
		snprintf(line.text, sizeof(line.text), ", most in %s",
			 short_name(text(timeline, first)).text);
	else if (second != TIMELINE_NONE &&
		 sum + calls[second] >= MOST_CALLS_MIN * all)
		snprintf(line.text, sizeof(line.text), ", most in %s and %s",
			 short_name(text(timeline, first)).text,
			 short_name(text(timeline, second)).text);
	return line;
}

static const char *line_text(const struct timeline *timeline, uint32_t line)
{
	return called_lines_text(&timeline->called, line);
}

struct in_line most_in_lines(const struct verdict_facts *facts, double *calls,
			     double all)
{
	const struct timeline *timeline = facts->timeline;

	return most_in(calls, timeline->called.lines.count, all, line_text,
		       timeline);
}

struct in_line in_line(const struct verdict_facts *facts, uint32_t name,
		       uint32_t within)
{
	const struct wanted_calls wanted = {name, within, INT64_MIN};
	const struct timeline *timeline = facts->timeline;
	double *calls = calloc(timeline->names.count + 1, sizeof(*calls));
	struct in_line line = {""};
	double all = 0;

	if (calls)
		count_functions(facts, wanted, calls);
	for (uint32_t at = 0; calls && at < timeline->names.count; at++)
		all += calls[at];
	if (all > 0) {
		line = most_in(calls, timeline->names.count, all,
			       timeline_name_text, timeline);
		free(calls);
		return line;
	}
	free(calls);
	calls = line_shares(facts, wanted, &all);
	if (calls)
		line = most_in_lines(facts, calls, all);
	free(calls);
	return line;
}

const char *ask_for_lines(const struct verdict_facts *facts,
			  const struct in_line *said)
{
	const struct timeline *timeline = facts->timeline;

	if (said->text[0])
		return "";
	for (uint32_t at = 0; at < timeline->names.count; at++)
		if (!strcmp(timeline_category(timeline, at), "python_function"))
			return "";
	return facts->split.has_steps && facts->split.count >= LINES_STEPS
		       ? " In which function: TRACEPROF_PYTHON=1 "
			 "TRACEPROF_WAIT=10 TRACEPROF_ACTIVE=5 python ..."
		       : " In which function: TRACEPROF_PYTHON=1 python ...";
}
