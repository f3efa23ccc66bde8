/* SPDX-License-Identifier: MIT */
/*
 * gomp_region.h - one parallel region, from its call to its return.
 *
 * The program's outlined function is replaced by gomp_region_member(), which
 * each member of the team runs; the context is on the stack of the thread that
 * made the call, the master, and outlives the region's end barrier.
 *
 *	one member	one event, two clock reads
 *	several		one event for each member, two clock reads; the master's
 *			holds the region, its share of it and its wait at the
 *			end, four clock reads
 *
 * The workers' waits at the end are not seen here: the writer finds them
 * between a member's end and the region's.
 *
 * A team is as slow as its slowest member, and what makes one slow is not
 * instructions but cache lines that another processor has.  A member reads one
 * line that the master wrote, and writes none that another thread reads or
 * writes, but for the line of its event.
 */
#ifndef PRELOAD_GOMP_REGION_H
#define PRELOAD_GOMP_REGION_H

#include "collector/control/search.h"
#include "preload/gomp/gomp_thin.h"

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
	_Alignas(CACHE_LINE) struct thin_site *site; /* NULL none */
	bool is_thinned; /* not recorded: a mark is made of it */
	struct gomp_library *was_last;
	struct gomp_slice slice;
	uint64_t share_start; /* of the master's share */
	uint64_t wait_start;  /* where it ended; 0: it is no part of this */
	struct gomp_detail detail;
};

_Static_assert(
	offsetof(struct gomp_region, site) == CACHE_LINE,
	"what members read is one line, and what the master writes while "
	"they run is in others");

/* Begins a region if it is to be recorded, and a step if it is a marker.  The
 * caller has asked gomp_region_wanted().  The context lies in the frame of the
 * hook: where that is gone, so is the region.  Otherwise false: the caller
 * forwards as if we weren't there.  In both cases gomp_close_outlined() is to
 * be called. */
bool gomp_open_outlined(struct gomp_region *region, struct gomp_site *site,
			gomp_function *function, void *data,
			enum omp_schedule schedule);

/* The same for one that is never thinned. */
bool gomp_open_whole(struct gomp_region *region, struct gomp_site *site,
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
	struct gomp_region *region; /* NULL: not the master, or all of it is in
				       the share */
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

/* The gate isn't simply open: decides, begins, marks.  Its bits then; and the
 * number of the place that calls, if it is known and no team's member does. */
uint32_t gomp_region_ask(uint32_t bits, struct gomp_site *site,
			 gomp_function *function, uint32_t *caller);

/* The master's share ends and its wait for the team begins; both stay open till
 * the region ends.  Returns when it begins. */
static inline uint64_t gomp_share_end(const struct gomp_slice *share,
				      uint64_t end_ticks)
{
	const struct gomp_slice wait = {.thread = share->thread,
					.region = share->region,
					.code = share->code,
					.kind = EVENT_OMP_WAIT,
					.sync = OMP_SYNC_REGION_END};

	/* Whatever was left open in it is gone.
	 * RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&share->thread->depth, share->depth + 1);
	return gomp_slice_pushed(wait, end_ticks).start_ticks;
}

/* The master did its share and waited for its team: one event. */
void gomp_region_close_team(const struct gomp_slice *slice,
			    struct gomp_detail *detail, uint64_t share_start,
			    uint64_t wait_start, uint64_t end_ticks);

/* What was thinned has returned, and is perhaps to be an event. */
void gomp_region_close_thinned(struct gomp_region *region, uint64_t end_ticks);

/* SEARCH_IN_TEAM where a member of a team of several calls, else 0. */
static inline uint32_t gomp_in_team(const struct gomp_site *site)
{
	return gomp_library(site)->omp_in_parallel() ? SEARCH_IN_TEAM : 0;
}

/* From a call to the function that it hands over: both lie in one file.  0
 * where that isn't so. */
static inline uint32_t gomp_distance(uint64_t code, gomp_function *function)
{
	const int64_t bytes = (int64_t)((uint64_t)(uintptr_t)function - code);

	return bytes == (int32_t)bytes ? (uint32_t)bytes : 0;
}

/* The region is recorded, on this record: opens its slice. */
static inline void
gomp_region_enter(struct gomp_region *region, struct thread *thread,
		  struct gomp_site *site, gomp_function *function, void *data,
		  enum omp_schedule schedule, uint32_t caller)
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
	region->wait_start = 0;
	region->detail = (struct gomp_detail){.outlined = outlined,
					      .schedule = (uint16_t)schedule};
	thread_drop_left(thread, region);
	/* Before the slice is filled: what it holds stays in registers. */
	start = clock_ticks();
	region->slice =
		gomp_slice_pushed((struct gomp_slice){.thread = thread,
						      .region = number,
						      .code = code,
						      .kind = EVENT_OMP_REGION,
						      .sync = (uint16_t)caller},
				  start);
	thread_open_in(thread, region);
}

/* True if nothing is left of the region but its mark: the program's function
 * runs without us, and no other thread is concerned. */
static inline bool
gomp_region_thins(struct gomp_region *region, struct thread *thread,
		  const struct gomp_site *site, gomp_function *function,
		  enum omp_schedule schedule, uint32_t caller)
{
	const uint32_t outlined = gomp_distance(site->code, function);

	region->site = thin_site(thread, EVENT_OMP_REGION, site->code, outlined,
				 caller);
	if (likely(!thin_skips(thread, region->site)))
		return false;
	region->is_thinned = true;
	region->master = thread;
	region->code = site->code;
	region->outlined = outlined;
	region->schedule = (uint16_t)schedule;
	region->slice.start_ticks = clock_ticks();
	return true;
}

/* gomp_open_outlined() and gomp_close_outlined(), for the hook that most
 * programs call most. */
static inline bool gomp_region_open(struct gomp_region *region,
				    struct gomp_site *site,
				    gomp_function *function, void *data,
				    enum omp_schedule schedule, bool may_thin)
{
	uint32_t bits = gate_bits();
	struct thread *thread;
	uint32_t stack = 0;
	uint32_t caller = gomp_in_team(site);

	/* The members of the last team have it. */
	prefetch_to_write(region);
	region->slice.thread = NULL;
	region->site = NULL;
	region->is_thinned = false;
	if (unlikely(bits == GATE_UNDECIDED ||
		     bits & (GATE_OMP_WATCH | GATE_OMP_MARK | GATE_OMP_STACK |
			     GATE_OMP_CALLER))) {
		bits = gomp_region_ask(bits, site, function, &caller);
		stack = gomp_region_stack(bits);
	}
	if (unlikely(!(bits & GATE_OMP)))
		return false;
	thread = hook_thread();
	if (unlikely(!thread))
		return false;
	if (may_thin &&
	    gomp_region_thins(region, thread, site, function, schedule, caller))
		return false;
	gomp_region_enter(region, thread, site, function, data, schedule,
			  caller);
	region->detail.task = stack;
	return true;
}

static inline void gomp_region_end_thinned(struct gomp_region *region)
{
	struct thread *thread = thread_self;
	const uint64_t end = clock_ticks();

	if (unlikely(!(gate_bits() & GATE_OMP) || thread != region->master ||
		     !thin_add(thread, region->site, region->slice.start_ticks,
			       end)))
		gomp_region_close_thinned(region, end);
}

static inline void gomp_region_close(struct gomp_region *region)
{
	uint64_t end;

	if (unlikely(!region->slice.thread)) {
		if (region->is_thinned)
			gomp_region_end_thinned(region);
		return;
	}
	end = clock_ticks();
	gomp_last = region->was_last;
	if (region->wait_start)
		gomp_region_close_team(&region->slice, &region->detail,
				       region->share_start, region->wait_start,
				       end);
	else
		gomp_slice_close(&region->slice, end, &region->detail);
}

#endif
