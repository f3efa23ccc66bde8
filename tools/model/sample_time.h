/* SPDX-License-Identifier: MIT */
/*
 * sample_time.h - what had the processor in the typical steps, by samples of
 * all threads.
 *
 * In Python it is the innermost line of the program, whatever that calls in
 * packages and in native code; where there is none, the function of Python.  In
 * native code it is the function; what a runtime's functions take (C's, C++'s,
 * OpenMP's) counts for who calls them.
 */
#ifndef TOOLS_SAMPLE_TIME_H
#define TOOLS_SAMPLE_TIME_H

#include "tools/model/split.h"

struct sample_time {
	int64_t ns;
	int64_t most_ns; /* of them, in the function that had most */
	uint32_t most;	 /* its name; may be the line's own */
};

/* One for each name of the timeline, to be freed; all 0: no samples.  In the
 * typical steps alone; split NULL: in all. */
struct sample_time *sample_times(const struct timeline *timeline,
				 const struct split *split);

/* The same without the samples of the thread whose lane this is. */
struct sample_time *sample_times_but(const struct timeline *timeline,
				     const struct split *split, uint32_t lane);

#endif
