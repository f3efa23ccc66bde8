/* SPDX-License-Identifier: MIT */
/*
 * region_join.h - how long each worker waited at the end of a region.
 *
 * A worker never returns to a hook when its region ends: it goes from its share
 * straight into libgomp's barrier.  Its wait is therefore put together here,
 * by region id, from its own end to the master's return.  The master's end is
 * looked up in a table of regions that ended lately, filled ahead of the drain
 * by a scan of what is published, so that the wait is known by the time when
 * the worker's next event comes.
 *
 * Between the two ends the worker may run explicit tasks: the wait ends where
 * the first of those begins (struct pending_wait.until_ticks).
 */
#ifndef WRITER_REGION_JOIN_H
#define WRITER_REGION_JOIN_H

#include "collector/session/thread.h"
#include "writer/state/arena.h"

struct region_end {
	uint64_t region;
	uint64_t end_ticks : 63;
	uint64_t is_drained : 1; /* the drain has come by, not only the scan */
};

struct region_join {
	struct array array; /* of struct region_end */
};

void region_join_start(struct region_join *join);
void region_join_end(struct region_join *join);

/* A region's end, seen ahead (`is_drained` false) or drained.  The table is
 * made for the first; without memory for it waits are not drawn. */
void region_join_add(struct region_join *join, uint64_t region,
		     uint64_t end_ticks, bool is_drained);

/* NULL: not ended yet, or too long ago. */
const struct region_end *region_join_find(const struct region_join *join,
					  uint64_t region);

/* Where a wait ends that is cut short at `until_ticks` (0: not). */
static inline uint64_t region_join_until(const struct pending_wait *wait,
					 uint64_t region_end_ticks)
{
	return wait->until_ticks && wait->until_ticks < region_end_ticks
		       ? wait->until_ticks
		       : region_end_ticks;
}

#endif
