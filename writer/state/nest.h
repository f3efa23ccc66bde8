/* SPDX-License-Identifier: MIT */
/*
 * nest.h - keeps the slices of one lane nested, for readers that round.
 *
 * Two reads of the processor's counter may give the same tick, or neighbours;
 * and a reader that adds ts and dur as doubles is off by up to a nanosecond
 * (TensorBoard does, on traces late in a quarter).  So that none of them sees
 * slices cross,
 *
 *	a parent ends NEST_GAP_NS after its last child,
 *	and begins before its first, where there is room,
 *	a slice begins NEST_GAP_NS after the one before it ended.
 *
 * Slices come in the order of their ends: children before their parent.
 */
#ifndef WRITER_NEST_H
#define WRITER_NEST_H

#include "collector/system/base.h"

#define NEST_GAP_NS 2
#define NEST_DEPTH  64u

struct nest_slice {
	int64_t seen_start_ns; /* as recorded */
	int64_t seen_end_ns;
	int64_t start_ns; /* as written */
	int64_t end_ns;
};

/* The slices of a lane that no later one has enclosed yet, the oldest ones
 * forgotten. */
struct nest {
	uint32_t count;
	struct nest_slice slice[NEST_DEPTH];
};

/* Moves the ends of the next slice of the lane by as little as needed. */
void nest_place(struct nest *nest, int64_t *start_ns, int64_t *end_ns);

#endif
