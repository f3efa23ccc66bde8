/* SPDX-License-Identifier: MIT */
/*
 * ompt_region.c - parallel regions and their members, as libomp tells them.
 *
 * A region's entry lies in a small static table and hangs on the word that the
 * runtime keeps for the region, where each member finds it.  The members' own
 * words hold their place in the team, and where on its thread's open slices the
 * share began.  A member's share ends where it comes to
 * the region's last barrier: a worker's callback for the end comes only with
 * the next region.  With the table full a region is not
 * recorded, but counted.
 */
#include "preload/gomp/gomp_region.h"
#include "preload/ompt/ompt_slice.h"

#include "collector/steps/steps.h"
#include "preload/stack/callers.h"

#define REGIONS_MAX  1024u
#define PROBES	     8u

/* What OMPT_MEMBER marks: the depth of the slice, the size of the team and the
 * number there. */
#define MEMBER_DEPTH 48
#define MEMBER_TEAM  24

struct ompt_region {
	/* What the members read: one line, which nobody writes meanwhile. */
	_Alignas(CACHE_LINE) _Atomic uint64_t number; /* 0 free */
	uint64_t code;
	uint32_t outer;
	uint32_t is_thinned; /* members do nothing */

	/* The master's own. */
	_Alignas(CACHE_LINE) struct thin_site *site; /* NULL none */
	struct thread *thread;
	struct gomp_slice slice;
	struct gomp_detail detail;
};

ompt_get_parallel_info *ompt_parallel_info;
static struct ompt_region regions[REGIONS_MAX];

static struct ompt_region *take(uint64_t number)
{
	/* Each thread counts for itself. */
	const uint64_t first = number + (number >> 32) * PROBES;

	for (unsigned int i = 0; i < PROBES; i++) {
		struct ompt_region *region =
			&regions[(first + i) % REGIONS_MAX];
		uint64_t free = 0;

		/* ACQUIRE pairs with RELEASE in give(). */
		if (atomic_compare_exchange_strong_explicit(
			    &region->number, &free, number,
			    memory_order_acquire, memory_order_relaxed))
			return region;
	}
	return NULL;
}

static void give(struct ompt_region *region)
{
	/* RELEASE pairs with ACQUIRE in take(): we are done with it. */
	store_release(&region->number, 0);
}

/* The entry that a region's word points to; NULL: it isn't recorded. */
static struct ompt_region *region_of(const union ompt_word *parallel)
{
	const uint64_t at = parallel ? parallel->value : 0;
	const uint64_t first = (uint64_t)(uintptr_t)regions;

	if (at < first || at - first >= sizeof(regions))
		return NULL;
	return parallel->pointer;
}

const void *ompt_region_code(const union ompt_word *parallel)
{
	const struct ompt_region *region = region_of(parallel);

	return region ? (const void *)region->code : NULL;
}

/* SEARCH_IN_TEAM where a member of a team of several begins it, else 0. */
static uint32_t in_team(void)
{
	union ompt_word *parallel;
	int team = 0;

	for (int outer = 0; ompt_parallel_info &&
			    ompt_parallel_info(outer, &parallel, &team) == 2;
	     outer++) {
		if (team > 1)
			return SEARCH_IN_TEAM;
	}
	return 0;
}

/* The gate isn't simply open: decide, begin, see who calls, mark.  Returns its
 * bits. */
static COLD uint32_t region_cold(uint32_t bits, const void *code,
				 uint32_t *caller)
{
	struct thread *thread;

	if (bits == GATE_UNDECIDED)
		bits = life_decide();
	if (bits & GATE_OMP_WATCH)
		bits = life_begin("OpenMP region");
	if (bits & GATE_OMP_CALLER && code && !*caller &&
	    steps_source() == STEP_AUTO) {
		thread = hook_thread_of_any();
		if (thread)
			*caller = callers_number(thread,
						 (uint64_t)(uintptr_t)code,
						 (uint64_t)(uintptr_t)code);
	}
	if (bits & GATE_OMP_MARK && steps_source() == STEP_AUTO) {
		thread = code ? hook_thread() : NULL;
		if (thread)
			steps_region(load_relaxed(&session_here), thread,
				     (uint64_t)(uintptr_t)code, *caller);
	} else if (bits & GATE_OMP_MARK &&
		   gomp_site_steps(ompt_site(code), 0)) {
		thread = hook_thread();
		if (thread)
			steps_mark(load_relaxed(&session_here), thread,
				   clock_ticks());
	}
	return gate_bits();
}

/* Nothing is left of the region but its mark. */
static bool region_thins(struct ompt_region *region, struct thread *thread)
{
	region->site = thin_site(thread, EVENT_OMP_REGION, region->code, 0,
				 region->slice.sync);
	if (region->site)
		region->site->outer = region->outer;
	if (likely(!thin_skips(thread, region->site)))
		return false;
	region->is_thinned = 1;
	region->thread = thread;
	region->slice.start_ticks = clock_ticks();
	return true;
}

void ompt_parallel_begin(union ompt_word *task, const struct ompt_frame *frame,
			 union ompt_word *parallel, unsigned int threads,
			 int flags, const void *code)
{
	uint32_t bits = gate_bits(), caller = in_team();
	const struct open_slice *outer;
	struct ompt_region *region;
	struct thread *thread;
	uint64_t number;

	(void)task;
	(void)frame;
	(void)threads;
	parallel->value = 0;
	if (unlikely(bits == GATE_UNDECIDED ||
		     bits & (GATE_OMP_WATCH | GATE_OMP_MARK | GATE_OMP_CALLER)))
		bits = region_cold(bits, code, &caller);
	/* Without a place in the program: the runtime's own, inside a team. */
	if (!(bits & GATE_OMP) || !code)
		return;
	thread = ompt_thread();
	if (!thread)
		return;
	number = thread_region(thread);
	region = take(number);
	if (!region) {
		hook_unfollowed();
		return;
	}
	region->slice = (struct gomp_slice){.thread = thread,
					    .code = (uint64_t)code,
					    .region = number,
					    .kind = EVENT_OMP_REGION,
					    .sync = (uint16_t)caller};
	region->detail = (struct gomp_detail){
		.schedule = (unsigned int)flags & OMPT_LEAGUE
				    ? OMP_SCHEDULE_TEAMS
				    : OMP_SCHEDULE_NONE};
	region->detail.task = gomp_region_stack(bits);
	outer = gomp_innermost(thread);
	if (outer && gomp_site_is_outlined(ompt_site(code)))
		region->detail.outer =
			(uint32_t)(ompt_named(outer) - (uint64_t)code);
	region->code = (uint64_t)code;
	region->outer = region->detail.outer;
	region->is_thinned = 0;
	parallel->pointer = region;
	if (region_thins(region, thread))
		return;
	ompt_open(&region->slice, region->detail.outer, clock_ticks());
}

/* With the master's share and its wait, which are still open in it. */
static void region_close(struct ompt_region *region, uint64_t end_ticks)
{
	const struct gomp_slice *slice = &region->slice;
	const struct open_slice *wait = &slice->thread->open[slice->depth + 2];

	if (gomp_is_mine(slice->thread) && slice->depth + 2 < OPEN_SLICES_MAX &&
	    load_relaxed(&slice->thread->depth) > slice->depth + 2 &&
	    open_slice_ends_share(wait) && wait->region == slice->region)
		gomp_region_close_team(slice, &region->detail,
				       wait[-1].start_ticks, wait->start_ticks,
				       end_ticks);
	else
		gomp_slice_close(slice, end_ticks, &region->detail);
}

void ompt_parallel_end(union ompt_word *parallel, union ompt_word *task,
		       int flags, const void *code)
{
	struct ompt_region *region = region_of(parallel);

	(void)task;
	(void)flags;
	(void)code;
	if (!region)
		return;
	/* Of a league of one the runtime tells no member. */
	if (!region->detail.team)
		region->detail.team = 1;
	if (region->detail.team == 1)
		region->detail.flags = EVENT_SERIAL;
	if (region->is_thinned) {
		region->slice.region = 0;
		gomp_thin_end(region->thread, region->site, &region->slice,
			      clock_ticks(), &region->detail);
	} else {
		if (region->site)
			region->site->team = region->detail.team;
		region_close(region, clock_ticks());
	}
	parallel->value = 0;
	give(region);
}

static void member_begin(const struct ompt_region *region,
			 union ompt_word *task, unsigned int team,
			 unsigned int thread)
{
	struct gomp_slice slice = {.thread = ompt_thread(),
				   .code = region->code,
				   .region = load_relaxed(&region->number),
				   .kind = EVENT_OMP_IMPLICIT};
	uint64_t now;

	if (!slice.thread)
		return;
	now = clock_ticks();
	thin_settle(slice.thread, 0, now);
	task->value = OMPT_IMPLICIT | OMPT_MEMBER |
		      (uint64_t)load_relaxed(&slice.thread->depth)
			      << MEMBER_DEPTH |
		      (uint64_t)team << MEMBER_TEAM | thread;
	ompt_open(&slice, region->outer, now);
}

void ompt_implicit_task(int endpoint, union ompt_word *parallel,
			union ompt_word *task, unsigned int team,
			unsigned int thread, int flags)
{
	struct ompt_region *region;

	(void)flags;
	if (endpoint == OMPT_END) {
		/* Of a team of one, or where the runtime tells no barriers. */
		ompt_member_end(task);
		if (task)
			task->value = 0;
		return;
	}
	task->value = OMPT_IMPLICIT;
	region = region_of(parallel);
	if (!region || region->is_thinned)
		return;
	if (thread == 0)
		region->detail.team = team;
	if (team > 1)
		member_begin(region, task, team, thread);
}

void ompt_member_end(union ompt_word *task)
{
	const uint64_t word = task ? task->value : 0;
	const uint32_t depth = (uint32_t)(word >> MEMBER_DEPTH) & 0x3fff;
	const uint64_t end = clock_ticks();
	struct thread *thread = ompt_open_thread();
	struct gomp_detail detail = {0};
	struct gomp_slice slice;

	if (!(word & OMPT_MEMBER))
		return;
	task->value = OMPT_IMPLICIT;
	if (!thread || depth >= load_relaxed(&thread->depth))
		return;
	if (depth >= OPEN_SLICES_MAX) {
		/* RELEASE pairs with ACQUIRE in the writer's look at open
		 * slices. */
		store_release(&thread->depth, depth);
		hook_unfollowed();
		return;
	}
	slice = ompt_slice_at(thread, depth);
	if (slice.kind != EVENT_OMP_IMPLICIT)
		return;
	thin_share(thread, slice.region, slice.start_ticks, end);
	/* The master's is part of the region; a worker's wait is joined by the
	 * writer. */
	if (!(word & 0xffffff) && gomp_is_recording()) {
		if (depth + 1 < OPEN_SLICES_MAX) {
			gomp_share_end(&slice, end);
			return;
		}
		hook_unfollowed();
	}
	detail.team = (uint32_t)(word >> MEMBER_TEAM) & 0xffffff;
	detail.thread = (uint32_t)word & 0xffffff;
	detail.outer = slice.thread->open[slice.depth].name;
	gomp_slice_close(&slice, end, &detail);
}
