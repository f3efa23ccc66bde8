/* SPDX-License-Identifier: MIT */
/*
 * python_lines.h - which function of Python calls an operator.
 */
#ifndef TOOLS_PYTHON_LINES_H
#define TOOLS_PYTHON_LINES_H

#include "tools/verdict/verdict.h"

/* ", most in train.py(9): accuracy", or of two, or "". */
struct in_line {
	char text[160];
};

/* The program's functions, or its lines, one or two, from which most calls of
 * that name come on the critical thread, or most that lie in one of the name
 * `within`, if it isn't TIMELINE_NONE; "" not known, or they come from more. */
struct in_line in_line(const struct verdict_facts *facts, uint32_t name,
		       uint32_t within);

/* The same of calls by timeline.called's lines, of `all`; calls are changed. */
struct in_line most_in_lines(const struct verdict_facts *facts, double *calls,
			     double all);

/* Calls of the critical thread's operators whose line is known, in the order of
 * time; to be freed.  NULL: memory is short. */
struct called_line *called_in_order(const struct verdict_facts *facts,
				    size_t *count);

/* How often each name was called straight from a line of the program on the
 * critical thread in typical steps, of the calls that tell, and in *all how
 * many tell, whose ever line.  To be freed; NULL: memory is short. */
double *called_straight(const struct verdict_facts *facts, double *all);

/* How many calls of typical steps on the critical thread come from each line,
 * by timeline.called's numbers, and of all together.  To be freed. */
double *called_by_line(const struct verdict_facts *facts, double *all);

/* " In which function: TRACEPROF_PYTHON=1 ..."; "" where that was said, or
 * functions of Python are recorded. */
const char *ask_for_lines(const struct verdict_facts *facts,
			  const struct in_line *said);

/* "<built-in method acquire of _thread.lock object>": what of Python's own
 * does nothing but wait. */
bool waits_in_python(const char *name);

#endif
