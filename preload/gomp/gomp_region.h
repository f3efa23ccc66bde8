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

#include "preload/gomp/gomp_slice.h"

struct gomp_region {
	/* What the members read: one line, which nobody writes meanwhile. */
	_Alignas(CACHE_LINE) void *first_word; /* of the program's data:
				     GOMP_parallel_reductions reads a pointer
				     there */
	gomp_function *function;
	void *data;
	struct gomp_library *library;
	const struct thread *master;
	uint64_t number;
	uint64_t code;
	uint32_t outlined; /* as in struct gomp_detail */
	uint16_t schedule;

	/* The master's own lines. */
	_Alignas(CACHE_LINE) struct gomp_library *was_last;
	struct gomp_slice slice;
	struct gomp_slice wait; /* the master's at the end; NULL thread: none */
	struct gomp_detail detail;
};

/* Begins a region if it is to be recorded, and a step if it is a marker.  The
 * caller has asked gomp_region_wanted().  The context lies in the frame of the
 * hook: where that is gone, so is the region.  Otherwise false: the caller
 * forwards as if we weren't there.  In both cases gomp_close_outlined() is to
 * be called. */
bool gomp_open_outlined(struct gomp_region *region, struct gomp_site *site,
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
void gomp_close_outlined(struct gomp_region *region);

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

/* The gate isn't simply open: decides, begins, marks.  Its bits then. */
uint32_t gomp_region_ask(uint32_t bits, struct gomp_site *site,
			 gomp_function *function);

/* The master waited for its team. */
void gomp_region_close_both(struct gomp_region *region, uint64_t end_ticks);

/* From a call to the function that it hands over: both lie in one file.  0
 * where that isn't so. */
static inline uint32_t gomp_distance(uint64_t code, gomp_function *function)
{
	const int64_t bytes = (int64_t)((uint64_t)(uintptr_t)function - code);

	return bytes == (int32_t)bytes ? (uint32_t)bytes : 0;
}

/* The region is recorded, on this record: opens its slice. */
static inline void gomp_region_enter(struct gomp_region *region,
				     struct thread *thread,
				     struct gomp_site *site,
				     gomp_function *function, void *data,
				     enum omp_schedule schedule)
{
	const uint64_t code = site->code;
	const uint64_t number = thread_region(thread);
	const uint32_t outlined = gomp_distance(code, function);
	uint64_t start;

	region->was_last = gomp_last;
	region->function = function;
	region->data = data;
	region->library = gomp_library(site);
	region->master = thread;
	region->number = number;
	region->code = code;
	region->outlined = outlined;
	region->schedule = (uint16_t)schedule;
	region->wait.thread = NULL;
	region->detail = (struct gomp_detail){.outlined = outlined,
					      .schedule = (uint16_t)schedule};
	thread_drop_left(thread, region);
	/* Before the slice is filled: what it holds stays in registers. */
	start = clock_ticks();
	region->slice = (struct gomp_slice){.thread = thread,
					    .region = number,
					    .code = code,
					    .kind = EVENT_OMP_REGION};
	gomp_slice_push(&region->slice, start);
	thread_open_in(thread, region);
}

/* gomp_open_outlined() and gomp_close_outlined(), for the hook that most
 * programs call most. */
static inline bool gomp_region_open(struct gomp_region *region,
				    struct gomp_site *site,
				    gomp_function *function, void *data,
				    enum omp_schedule schedule)
{
	uint32_t bits = gate_bits();
	struct thread *thread;
	uint32_t stack = 0;

	region->slice.thread = NULL;
	if (unlikely(
		    bits == GATE_UNDECIDED ||
		    bits & (GATE_OMP_WATCH | GATE_OMP_MARK | GATE_OMP_STACK))) {
		bits = gomp_region_ask(bits, site, function);
		stack = gomp_region_stack(bits);
	}
	if (unlikely(!(bits & GATE_OMP)))
		return false;
	thread = hook_thread();
	if (unlikely(!thread))
		return false;
	gomp_region_enter(region, thread, site, function, data, schedule);
	region->detail.task = stack;
	return true;
}

static inline void gomp_region_close(struct gomp_region *region)
{
	uint64_t end;

	if (unlikely(!region->slice.thread))
		return;
	end = clock_ticks();
	gomp_last = region->was_last;
	if (region->wait.thread)
		gomp_region_close_both(region, end);
	else
		gomp_slice_close(&region->slice, end, &region->detail);
}

#endif
