/* SPDX-License-Identifier: MIT */
/*
 * python_lines.h - which function of Python calls an operator.
 */
#ifndef TOOLS_PYTHON_LINES_H
#define TOOLS_PYTHON_LINES_H

#include "tools/verdict/verdict.h"

/* ", most in train.py(9): accuracy", or "". */
struct in_line {
	char text[80];
};

/* The program's function in which calls of that name take most on the critical
 * thread, or the line from which most of them come; "" where neither is
 * recorded. */
struct in_line in_line(const struct verdict_facts *facts, uint32_t name);

/* How often each name was called straight from a line of the program on the
 * critical thread in typical steps, of the calls that tell, and in *all how
 * many tell, whose ever line.  To be freed; NULL: memory is short. */
double *called_straight(const struct verdict_facts *facts, double *all);

/* How many calls of typical steps on the critical thread come from each line,
 * by timeline.called's numbers, and of all together.  To be freed. */
double *called_by_line(const struct verdict_facts *facts, double *all);

/* " To see in which function: TRACEPROF_PYTHON=1 ..."; "" where functions of
 * Python are recorded, or the file isn't ours. */
const char *ask_for_lines(const struct verdict_facts *facts);

/* "<built-in method acquire of _thread.lock object>": what of Python's own
 * does nothing but wait. */
bool waits_in_python(const char *name);

#endif
