/* SPDX-License-Identifier: MIT */
/*
 * loop_certain.h - whether the step of a run that goes on will be its step at
 * the end, too.
 *
 * What comes between its turns now and then tells of a loop around it, which is
 * the step if that keeps coming: a booster's iterations around its splits.  And
 * where nothing ever comes between them the program may not have begun yet with
 * what it is for: a validation before the training is a perfect loop.
 */
#ifndef WRITER_LOOP_CERTAIN_H
#define WRITER_LOOP_CERTAIN_H

#include "writer/loops/loop_nest.h"

/* What was found last, and since when it is the same. */
struct loop_choice {
	const void *of; /* any sign of its stream */
	uint64_t key;
	size_t held;
	size_t since; /* marks that there were then */
};

/* How often it is to have turned: where all else that comes has come some
 * times, and where nothing else ever came. */
struct loop_patience {
	size_t turns, alone;
};

/* Enough is at sites of each of its turns to go by it before the end: else what
 * comes may be around it. */
bool loop_is_likely(const struct loop_nest *nest);

/* After a look at `count` marks of `of` that found a step. */
bool loop_is_certain(struct loop_choice *choice, const void *of,
		     const struct loop_nest *nest, size_t count,
		     const struct loop_patience *patience);

#endif
