/* SPDX-License-Identifier: MIT */
/*
 * gomp_region.c - what master and members do at the ends of a region.
 */
#include "preload/gomp/gomp_region.h"
#include "preload/gomp/gomp_thin.h"

#include "collector/steps/steps.h"
#include "preload/stack/callers.h"
#include "preload/stack/unwind.h"

COLD void gomp_slice_stray(const struct gomp_slice *slice)
{
	const struct session *session = load_relaxed(&session_here);

	if (session && (uintptr_t)slice->thread - (uintptr_t)session->base <
			       session->bytes)
		hook_unfollowed();
}

/* The region is perhaps the beginning of a step, which may open or close the
 * window.  Returns the gate's bits. */
static uint32_t mark(struct gomp_site *site, gomp_function *function,
		     uint32_t caller)
{
	struct thread *thread;

	if (steps_source() == STEP_AUTO) {
		thread = hook_thread();
		if (thread)
			steps_region(load_relaxed(&session_here), thread,
				     site->code, caller);
	} else if (gomp_site_steps(site, (uint64_t)(uintptr_t)function)) {
		thread = hook_thread();
		if (thread)
			steps_mark(load_relaxed(&session_here), thread,
				   clock_ticks());
	}
	return gate_bits();
}

uint32_t gomp_region_stack(uint32_t bits)
{
	struct thread *thread;
	uint32_t stack;

	if (!(bits & GATE_OMP_STACK) || !(bits & GATE_OMP))
		return 0;
	thread = hook_thread();
	if (!thread)
		return 0;
	thread_fill();
	stack = unwind_take(thread, UNWIND_OURS_MAX);
	thread_unbusy(thread);
	return stack;
}

uint32_t gomp_region_ask(uint32_t bits, struct gomp_site *site,
			 gomp_function *function, uint32_t *caller)
{
	struct thread *thread;

	if (bits == GATE_UNDECIDED)
		bits = life_decide();
	if (bits & GATE_OMP_WATCH)
		bits = life_begin("OpenMP region");
	if (bits & GATE_OMP_CALLER && !*caller && steps_source() == STEP_AUTO) {
		/* What can't be recorded is counted below. */
		thread = hook_thread_of_any();
		if (thread)
			*caller = callers_number(thread, site->code, 0);
	}
	return bits & GATE_OMP_MARK ? mark(site, function, *caller) : bits;
}

COLD void gomp_wait_place(uint32_t from, uint64_t start)
{
	const struct open_slice *outer;
	struct thread *thread;

	if (steps_source() != STEP_AUTO || !gomp_is_recording())
		return;
	thread = hook_thread();
	outer = thread ? gomp_innermost(thread) : NULL;
	if (outer)
		callers_barrier(thread, search_barrier(from), outer->region,
				start);
}

bool gomp_open_outlined(struct gomp_region *region, struct gomp_site *site,
			gomp_function *function, void *data,
			enum omp_schedule schedule)
{
	return gomp_region_open(region, site, function, data, schedule, true);
}

bool gomp_open_whole(struct gomp_region *region, struct gomp_site *site,
		     gomp_function *function, void *data,
		     enum omp_schedule schedule)
{
	return gomp_region_open(region, site, function, data, schedule, false);
}

void gomp_thin_end(struct thread *thread, struct thin_site *site,
		   struct gomp_slice *slice, uint64_t end_ticks,
		   const struct gomp_detail *detail)
{
	const uint32_t bits = gate_bits();

	end_ticks = gomp_ended(slice, end_ticks);
	slice->thread = thread;
	if (unlikely(bits == GATE_UNDECIDED || thread_self != thread))
		gomp_slice_stray(slice);
	/* Where its window ended meanwhile it is drawn as far as that. */
	else if (!(bits & GATE_OMP)
			 ? bits & GATE_SCOPE_MARK
			 : !thin_add(thread, site, slice->start_ticks,
				     end_ticks) &&
				   !thin_mark(thread, site, slice->start_ticks,
					      end_ticks))
		gomp_commit(slice, end_ticks, detail);
}

COLD void gomp_region_close_thinned(struct gomp_region *region,
				    uint64_t end_ticks)
{
	struct thread *thread = (struct thread *)region->master;
	const uint64_t start_ticks = region->slice.start_ticks;
	const uint32_t bits = gate_bits();

	end_ticks = gomp_ended(&region->slice, end_ticks);
	/* While the step is searched for: all but the last of its window. */
	if (likely(bits != GATE_UNDECIDED && bits & GATE_OMP &&
		   thread_self == thread && !thread->thin.sums &&
		   thin_mark(thread, region->site, start_ticks, end_ticks)))
		return;

	const struct gomp_detail detail = {.outlined = region->outlined,
					   .schedule = region->schedule};
	struct gomp_slice slice = {.start_ticks = start_ticks,
				   .code = region->code,
				   .kind = EVENT_OMP_REGION,
				   .sync = region->site ? region->site->sync
							: 0};

	gomp_thin_end(thread, region->site, &slice, end_ticks, &detail);
}

/* One that takes more than 32 bits can count, or whose window ended meanwhile:
 * the share lies in it. */
static COLD void commit_apart(const struct gomp_slice *region,
			      const struct gomp_detail *detail,
			      uint64_t share_start, uint64_t wait_start,
			      uint64_t end_ticks, bool is_open)
{
	const struct gomp_detail nothing = {0};
	struct gomp_detail share = *detail;
	struct gomp_slice slice = *region;

	share.task = 0; /* the call stack is the region's */
	slice.kind = EVENT_OMP_IMPLICIT;
	slice.start_ticks = share_start;
	gomp_commit(&slice, wait_start, &share);
	if (!is_open)
		return;
	slice.kind = EVENT_OMP_WAIT;
	slice.sync = OMP_SYNC_REGION_END;
	slice.start_ticks = wait_start;
	gomp_commit(&slice, end_ticks, &nothing);
	gomp_commit(region, end_ticks, detail);
}

void gomp_region_close_team(const struct gomp_slice *slice,
			    struct gomp_detail *detail, uint64_t share_start,
			    uint64_t wait_start, uint64_t end_ticks)
{
	const uint64_t until = share_start - slice->start_ticks;
	const uint64_t waited = end_ticks - wait_start;
	const uint32_t bits = gate_bits();

	if (unlikely(bits == GATE_UNDECIDED || thread_self != slice->thread)) {
		gomp_slice_stray(slice);
		return;
	}
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&slice->thread->depth, slice->depth);
	thin_settle(slice->thread, wait_start, end_ticks);
	/* A call stack has the place of the wait. */
	if (unlikely(!(bits & GATE_OMP) || (until | waited) >> 32 ||
		     detail->task)) {
		commit_apart(slice, detail, share_start, wait_start, end_ticks,
			     bits & GATE_OMP);
		return;
	}
	detail->flags = EVENT_WITH_SHARE;
	detail->thread = (uint32_t)until;
	detail->task = (uint32_t)waited;
	gomp_commit(slice, end_ticks, detail);
}

void gomp_close_outlined(struct gomp_region *region)
{
	gomp_region_close(region);
}

/* --- members -------------------------------------------------------------- */

bool gomp_member_begin(struct gomp_member *member, struct gomp_region *region,
		       unsigned int team, unsigned int thread)
{
	struct gomp_slice slice = {.thread = NULL};
	uint64_t now;

	member->region = NULL;
	member->was_last = gomp_last;
	gomp_last = region->library;
	slice.thread = gomp_is_recording() ? hook_thread() : NULL;
	if (unlikely(!slice.thread)) {
		member->slice.thread = NULL;
		return false;
	}
	slice.code = region->code;
	slice.region = region->number;
	slice.kind = EVENT_OMP_IMPLICIT;
	member->detail = (struct gomp_detail){.schedule = region->schedule,
					      .outlined = region->outlined,
					      .team = team,
					      .thread = thread};
	if (slice.thread == region->master) {
		region->detail.team = team;
		if (region->site)
			region->site->team = team;
		if (region->schedule != OMP_SCHEDULE_TEAMS)
			member->region = region;
	}
	now = clock_ticks();
	thin_settle(slice.thread, 0, now);
	member->slice = gomp_slice_pushed(slice, now);
	return true;
}

void gomp_member_end(struct gomp_member *member)
{
	struct gomp_region *region = member->region;
	uint64_t end;

	gomp_last = member->was_last;
	if (unlikely(!member->slice.thread))
		return;
	end = clock_ticks();
	if (likely(gomp_is_mine(member->slice.thread)))
		thin_share(member->slice.thread, member->slice.region,
			   member->slice.start_ticks, end);
	if (!region || !gomp_is_recording() ||
	    !gomp_is_mine(member->slice.thread)) {
		gomp_slice_close(&member->slice, end, &member->detail);
		return;
	}
	region->share_start = member->slice.start_ticks;
	region->wait_start = gomp_share_end(&member->slice, end);
	/* The others have read it: the next region writes there. */
	prefetch_to_write(region);
}

/* The team's only member: the region's own event says it all. */
static void run_serial(struct gomp_region *region)
{
	region->detail.team = 1;
	region->detail.flags = EVENT_SERIAL;
	region->function(region->data);
}

static __attribute__((noinline)) void
run_member(struct gomp_region *region, unsigned int team, unsigned int thread)
{
	struct gomp_member member;

	gomp_member_begin(&member, region, team, thread);
	region->function(region->data);
	gomp_member_end(&member);
}

void gomp_region_member(void *argument)
{
	struct gomp_region *region = argument;
	const unsigned int team =
		(unsigned int)region->library->omp_get_num_threads();

	if (team == 1)
		run_serial(region);
	else
		run_member(region, team,
			   (unsigned int)region->library->omp_get_thread_num());
}

void gomp_region_alone(void *argument)
{
	run_serial(argument);
}

void gomp_region_team(void *argument)
{
	struct gomp_region *region = argument;
	const unsigned int teams =
		(unsigned int)region->library->omp_get_num_teams();

	if (teams == 1)
		run_serial(region);
	else
		run_member(region, teams,
			   (unsigned int)region->library->omp_get_team_num());
}
