/* SPDX-License-Identifier: MIT */
/*
 * gomp_region.h - one parallel region, from its call to its return.
 *
 * The program's outlined function is replaced by gomp_region_member(), which
 * each member of the team runs; the context is on the stack of the thread that
 * made the call, the master, and outlives the region's end barrier.
 *
 *	one member	 one event, two clock reads
 *	several		 one event for the region and one for each member, two
 *			 clock reads each, and the master's wait at the end
 *
 * The workers' waits at the end are not seen here: the writer finds them
 * between a member's end and the region's.
 */
#ifndef PRELOAD_GOMP_REGION_H
#define PRELOAD_GOMP_REGION_H

#include "preload/gomp_slice.h"

struct gomp_region {
	void *first_word; /* of the program's data: GOMP_parallel_reductions
			     reads a pointer there */
	gomp_function *function;
	void *data;
	struct gomp_library *library;
	struct gomp_library *was_last;
	struct gomp_slice slice; /* the master's */
	struct gomp_slice wait; /* the master's at the end; NULL thread: none */
	struct gomp_detail detail;
};

/* Begins a region if it is to be recorded, and a step if it is a marker.  The
 * context lies in the frame of the hook: where that is gone, so is the region.
 * Otherwise false: the caller forwards as if we weren't there.  In both cases
 * gomp_region_end() is to be called. */
bool gomp_region_begin(struct gomp_region *region, struct gomp_site *site,
		       gomp_function *function, void *data,
		       enum omp_schedule schedule);

/* The function to hand to the library, with the region as its data. */
void gomp_region_member(void *region);

/* The same where the program asked for a team of one. */
void gomp_region_alone(void *region);

/* The same for a league of teams, which the host runs one by one. */
void gomp_region_team(void *region);

/* After the call.  No exception leaves a region; a thread that ends in one
 * takes its record along. */
void gomp_region_end(struct gomp_region *region);

/* One member's part: between these it runs the program's code. */
struct gomp_member {
	struct gomp_region *region;
	struct gomp_library *was_last;
	struct gomp_slice slice;
	struct gomp_detail detail;
};

bool gomp_member_begin(struct gomp_member *member, struct gomp_region *region,
		       unsigned int team, unsigned int thread);
void gomp_member_end(struct gomp_member *member);

/* Is anything to be done about regions?  Closed, decided and not watched for:
 * no.  Neither where libomp tells them itself; the hook then jumps there, so
 * that libomp sees who called. */
static inline bool gomp_region_wanted(const struct gomp_site *site)
{
	const uint32_t bits = gate_bits();

	return (unlikely(bits & (GATE_OMP | GATE_OMP_MARK | GATE_OMP_WATCH)) ||
		unlikely(bits == GATE_UNDECIDED)) &&
	       !gomp_is_foreign(site);
}

#endif
