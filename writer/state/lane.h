/* SPDX-License-Identifier: MIT */
/*
 * lane.h - side lanes for what may cross.
 *
 * A viewer draws the slices of one tid as a stack, so those that cross must lie
 * apart.  Ranges come in the order of their ends; each goes on the first lane
 * where it nests with all that lie there.
 */
#ifndef WRITER_LANE_H
#define WRITER_LANE_H

#include "collector/system/base.h"

/* tid of lane n of a thread: its own plus this many times n. */
#define LANE_STEP   10000000u

#define LANE_RANGES 8u
#define LANE_KEPT   8u

enum lane {
	LANE_MAIN = 0,
	LANE_FIRST_RANGE = 1,
	LANE_FIRST_RECOVERED = LANE_FIRST_RANGE + LANE_RANGES,
	LANE_LOSSES = LANE_FIRST_RECOVERED + LANE_RANGES,
	LANE_STEPS,
	LANE_SAMPLES,
	LANE_COUNT, /* of CUPTI's overhead, too */
	LANE_XLA,   /* what it says of the thread */
	/* The writer's own, last of all where a viewer goes by tids; further
	 * to the right there is no room in 31 bits. */
	LANE_WRITER = 210
};

struct lane_span {
	uint64_t start_ns;
	uint64_t end_ns;
};

/* The outermost spans of each lane, oldest first, the last LANE_KEPT. */
struct lane_set {
	struct {
		uint64_t floor_ns; /* nothing may begin before this */
		unsigned int count;
		struct lane_span kept[LANE_KEPT];
	} lane[LANE_RANGES];
};

/* The lane for [*start_ns, end_ns], counted from 0.  Where it crosses on each,
 * it goes on the last and *start_ns is moved. */
unsigned int lane_place(struct lane_set *set, uint64_t *start_ns,
			uint64_t end_ns);

#endif
