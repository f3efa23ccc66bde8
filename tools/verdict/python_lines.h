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
 * thread; "" where none is recorded around them. */
struct in_line in_line(const struct verdict_facts *facts, uint32_t name);

/* " To see in which function: TRACEPROF_PYTHON=1 ..."; "" where functions of
 * Python are recorded, or the file isn't ours. */
const char *ask_for_lines(const struct verdict_facts *facts);

#endif
