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

struct in_line in_line(const struct verdict_facts *facts, uint32_t name)
{
	const struct timeline *timeline = facts->timeline;
	double *ns = calloc(timeline->names.count + 1, sizeof(*ns));
	struct in_line line = {""};
	uint32_t most = TIMELINE_NONE;

	if (ns)
		count_functions(facts, name, ns);
	for (uint32_t at = 0; ns && at < timeline->names.count; at++)
		if (ns[at] > 0 && (most == TIMELINE_NONE || ns[at] > ns[most]))
			most = at;
	if (most != TIMELINE_NONE)
		snprintf(line.text, sizeof(line.text), ", most in %s",
			 short_name(timeline_name_text(timeline, most)).text);
	free(ns);
	return line;
}

const char *ask_for_lines(const struct verdict_facts *facts)
{
	const struct timeline *timeline = facts->timeline;

	for (uint32_t at = 0; at < timeline->names.count; at++)
		if (!strcmp(timeline_category(timeline, at), "python_function"))
			return "";
	return facts->split.has_steps && facts->split.count >= LINES_STEPS
		       ? " In which function: TRACEPROF_PYTHON=1 "
			 "TRACEPROF_WAIT=10 TRACEPROF_ACTIVE=5 python ..."
		       : " In which function: TRACEPROF_PYTHON=1 python ...";
}
