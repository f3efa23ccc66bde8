/* SPDX-License-Identifier: MIT */
/*
 * python_lines.c - which function of Python calls an operator.
 */
#include "tools/verdict/python_lines.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
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

/* What calls of that name take in each function, by the function's name. */
static void count_functions(const struct verdict_facts *facts, uint32_t name,
			    double *ns)
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
		if (span->name == name && open.count)
			ns[open.list[open.count - 1].name] += (double)dur_ns;
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

/* name: TIMELINE_NONE of all names. */
static double *count_lines(const struct verdict_facts *facts, uint32_t name,
			   double *all)
{
	const struct called_lines *called = &facts->timeline->called;
	double *calls = calloc(called->lines.count + 1, sizeof(*calls));

	*all = 0;
	for (size_t at = 0; calls && at < called->count; at++) {
		const struct called_line *call = &called->list[at];

		if (!counts(facts, call) ||
		    (name != TIMELINE_NONE && call->name != name))
			continue;
		calls[call->line]++;
		++*all;
	}
	return calls;
}

double *called_by_line(const struct verdict_facts *facts, double *all)
{
	return count_lines(facts, TIMELINE_NONE, all);
}

/* The line from which most calls of that name come. */
static const char *line_of(const struct verdict_facts *facts, uint32_t name)
{
	const struct called_lines *called = &facts->timeline->called;
	const char *text = NULL;
	double all, most = 0;
	double *calls = count_lines(facts, name, &all);

	for (uint32_t at = 0; calls && at < called->lines.count; at++) {
		if (calls[at] <= most)
			continue;
		most = calls[at];
		text = called_lines_text(called, at);
	}
	free(calls);
	return text;
}

struct in_line in_line(const struct verdict_facts *facts, uint32_t name)
{
	const struct timeline *timeline = facts->timeline;
	double *ns = calloc(timeline->names.count + 1, sizeof(*ns));
	struct in_line line = {""};
	const char *text;
	uint32_t most = TIMELINE_NONE;

	if (ns)
		count_functions(facts, name, ns);
	for (uint32_t at = 0; ns && at < timeline->names.count; at++)
		if (ns[at] > 0 && (most == TIMELINE_NONE || ns[at] > ns[most]))
			most = at;
	text = most != TIMELINE_NONE ? timeline_name_text(timeline, most)
				     : line_of(facts, name);
	if (text)
		snprintf(line.text, sizeof(line.text), ", most in %s",
			 short_name(text).text);
	free(ns);
	return line;
}

const char *ask_for_lines(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;

	for (uint32_t at = 0; at < timeline->names.count; at++)
		if (!strcmp(timeline_category(timeline, at), "python_function"))
			return "";
	if (timeline->called.count)
		return "";
	return facts->split.has_steps && facts->split.count >= LINES_STEPS
		       ? " In which function: TRACEPROF_PYTHON=1 "
			 "TRACEPROF_WAIT=10 TRACEPROF_ACTIVE=5 python ..."
		       : " In which function: TRACEPROF_PYTHON=1 python ...";
}
