/* SPDX-License-Identifier: MIT */
/*
 * work_beside.h - what all threads did, moment by moment, as samples tell.
 *
 * A thread that waits while others use all processors is not what a program
 * waits for: nobody could have done more meanwhile.
 */
#ifndef TOOLS_WORK_BESIDE_H
#define TOOLS_WORK_BESIDE_H

#include "tools/model/host_cover.h"

/* From `ns` on so many threads are at work. */
struct work_change {
	int64_t ns;
	int64_t threads;
};

struct work_beside {
	struct work_change *changes; /* by ns */
	size_t count, capacity, next;
	int64_t all_ns;	  /* of all threads */
	int64_t alloc_ns; /* of these, in functions that get and free */
};

/* All samples but those of the thread whose lane this is count as beside. */
void work_beside_make(struct work_beside *beside, struct timeline *timeline,
		      uint32_t lane);
void work_beside_free(struct work_beside *beside);

/* How much of so many processors they had in [start, end), in ns of one of
 * them all: at most the time itself; in *some_ns how long any of them worked.
 * Times must not go back. */
double work_beside_ns(struct work_beside *beside, int64_t start_ns,
		      int64_t end_ns, int64_t processors, int64_t *some_ns);

/* How long a thread was at work; in *life_ns from when to when. */
int64_t work_of_thread(struct timeline *timeline, uint32_t lane,
		       int64_t *life_ns);

#endif
