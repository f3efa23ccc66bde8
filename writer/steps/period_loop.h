/* SPDX-License-Identifier: MIT */
/*
 * period_loop.h - one group of hits, for period.c: do they mark a loop's turns?
 *
 * They cut the stream into stretches, which are compared with what they have in
 * common, the median by bucket.
 */
#ifndef WRITER_PERIOD_LOOP_H
#define WRITER_PERIOD_LOOP_H

#include "writer/steps/period_groups.h"

/* Hits of a marker that can be told to be one. */
#define PERIOD_LOOP_HITS 4u

struct period_loop {
	uint64_t id;
	uint64_t key;
	unsigned int context;
	size_t first; /* index of the first mark */
	size_t last;
	size_t hits;
	size_t unlike; /* stretches that are not like the others */
	size_t marks;  /* in those that are */
	size_t length; /* of such a one, in marks */
	uint64_t ticks;
};

/* Whether a group is one; if so, fills in the loop. */
bool period_loop_examine(const struct period_groups *groups, size_t group,
			 unsigned int context, struct period_loop *loop);

/* Turns from one exception to the next if that is always the same, else 0.
 * Groups anew. */
size_t period_loop_outer(struct period_groups *groups,
			 const struct period_loop *loop);

#endif
