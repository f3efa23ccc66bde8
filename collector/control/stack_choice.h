/* SPDX-License-Identifier: MIT */
/*
 * stack_choice.h - what TRACEPROF_STACK says: whose events carry the call stack
 * that led to them, and how many frames of it.
 */
#ifndef COLLECTOR_STACK_CHOICE_H
#define COLLECTOR_STACK_CHOICE_H

#include "collector/system/base.h"

#define STACK_DEPTH_MAX	    64u
#define STACK_DEPTH_DEFAULT 16u

enum stack_family {
	STACK_HEAP = 1 << 0,
	STACK_CUDA = 1 << 1,
	STACK_OMP = 1 << 2,
	STACK_BLAS = 1 << 3,
};

struct stack_choice {
	uint32_t families; /* enum stack_family, 0 off */
	uint32_t depth;
};

/* "off", "all", or heap, cuda, omp and blas with commas between; each with ":DEPTH".
 * 0, or -EINVAL with one line in `why`. */
int stack_choice_parse(const char *text, struct stack_choice *choice, char *why,
		       size_t why_bytes);

#endif
