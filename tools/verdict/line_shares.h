/* SPDX-License-Identifier: MIT */
/*
 * line_shares.h - how many calls of an operator come from each line.
 *
 * One call a millisecond tells its line, so a call that follows another at once
 * hardly ever does, and those that do speak for few.  What they speak for are
 * calls in the same surroundings: the operators right before and after are the
 * same, and the one before takes about as long.  Of surroundings in which less
 * than some tell nothing is known.
 */
#ifndef TOOLS_LINE_SHARES_H
#define TOOLS_LINE_SHARES_H

#include "tools/verdict/verdict.h"

/* By name, is it one that the library asks, where it lies in no other:
 * PyTorch's operators, and what else was asked once?  To be freed. */
bool *names_asked(const struct timeline *timeline);

/* Calls of a name that are looked for. */
struct wanted_calls {
	uint32_t name;
	uint32_t within; /* those in one of this name; TIMELINE_NONE all */
	int64_t within_end_ns;
};

/* Is it one?  To be asked of each slice of a lane, in their order. */
bool is_wanted_call(struct wanted_calls *wanted, const struct span *span,
		    int64_t dur_ns);

/* Of the critical thread in typical steps, by numbers of timeline.called; in
 * *all how many there are, from known lines or not.  To be freed; NULL: no call
 * tells, or memory is short. */
double *line_shares(const struct verdict_facts *facts,
		    struct wanted_calls wanted, double *all);

#endif
