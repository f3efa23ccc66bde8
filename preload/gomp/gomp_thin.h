/* SPDX-License-Identifier: MIT */
/*
 * gomp_thin.h - the ends of tasks, their creations, waits and what is held,
 * which decide whether they are drawn; see thin_tasks.h.
 */
#ifndef PRELOAD_GOMP_THIN_H
#define PRELOAD_GOMP_THIN_H

#include "collector/session/thin_tasks.h"
#include "preload/gomp/gomp_slice.h"

/* Of a wait for the team: where it is called from, as in its event; a thinned
 * one's site has it in place of an outlined function. */
static inline uint32_t gomp_wait_from(unsigned int sync, const void *caller)
{
	return omp_sync_is_of_team(sync) ? (uint32_t)(uintptr_t)caller : 0;
}

/* In which loops of the program such a call lies, where the main thread comes
 * to it again and again within one region.  `start`: as callers_number()'s. */
void gomp_wait_place(uint32_t from, uint64_t start);

/* The same while places are asked for. */
static inline void gomp_wait_ask(uint32_t from, uint64_t start)
{
	if (unlikely(load_relaxed(&gate_page.bits) & GATE_OMP_CALLER) && from)
		gomp_wait_place(from, start);
}

/* A slice is an event after all. */
void gomp_thin_commit(const struct gomp_slice *slice, uint64_t end_ticks,
		      const struct gomp_detail *detail);

/* Of a wait that is drawn: how long its tasks took, which get slices. */
struct gomp_detail gomp_with_tasks(struct thread *thread,
				   const struct thin_frame *around,
				   uint64_t took, uint64_t end_ticks);

/* A wait that is thinned was long, or can't be in a sum. */
void gomp_thin_wait(struct gomp_slice *slice, const struct thin_frame *around,
		    uint32_t from, uint64_t end_ticks);

/* It left no slice: its sum, or its mark, or else an event. */
static inline void gomp_thin_add(const struct gomp_slice *slice,
				 struct thin_site *site, uint64_t start_ticks,
				 uint64_t end_ticks,
				 const struct gomp_detail *detail)
{
	if (unlikely(!thin_add(slice->thread, site, start_ticks, end_ticks)) &&
	    !thin_mark(slice->thread, site, start_ticks, end_ticks))
		gomp_thin_commit(slice, end_ticks, detail);
}

/* A task's run ends; `around` was made when it began. */
static inline void gomp_task_close(const struct gomp_slice *slice,
				   const struct thin_frame *around,
				   uint64_t end_ticks,
				   const struct gomp_detail *detail)
{
	struct thread *thread = slice->thread;
	const uint32_t bits = gate_bits();
	struct thin_site *site;
	uint64_t took, bare;

	if (unlikely(bits == GATE_UNDECIDED || thread_self != thread)) {
		gomp_slice_stray(slice);
		return;
	}
	end_ticks = gomp_ended(slice, end_ticks);
	took = end_ticks - slice->start_ticks;
	bare = thin_bare(thread, around, took);
	site = thin_site(thread, EVENT_OMP_EXPLICIT, slice->code, 0, 0);
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&thread->depth, slice->depth);
	if (thin_skips(thread, site) && likely(bits & GATE_OMP) &&
	    likely(!thin_draws(thread, around, bare, slice->depth))) {
		thin_leave(thread, around);
		gomp_thin_add(slice, site, slice->start_ticks, end_ticks,
			      detail);
		thin_task_left(thread, bare, slice->code, slice->region,
			       end_ticks);
		return;
	}
	thin_waits(thread, around->idle, bare, slice->region,
		   slice->start_ticks, end_ticks);
	thin_leave(thread, around);
	thread->thin.frame.covered = around->covered + took;
	if (likely(bits & (GATE_OMP | GATE_SCOPE_MARK)))
		gomp_commit(slice, end_ticks, detail);
}

/* A creation ends, or what was held, of which so much lay in tasks that are
 * drawn. */
static inline void gomp_short_close(const struct gomp_slice *slice,
				    struct thin_site *site, uint64_t covered,
				    uint64_t end_ticks,
				    const struct gomp_detail *detail)
{
	struct thread *thread = slice->thread;
	const uint32_t bits = gate_bits();

	if (unlikely(bits == GATE_UNDECIDED || thread_self != thread)) {
		gomp_slice_stray(slice);
		return;
	}
	end_ticks = gomp_ended(slice, end_ticks);
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&thread->depth, slice->depth);
	if (thin_skips(thread, site) && likely(bits & GATE_OMP) &&
	    end_ticks - slice->start_ticks < thread->thin.long_ticks + covered)
		gomp_thin_add(slice, site, slice->start_ticks, end_ticks,
			      detail);
	else if (likely(bits & (GATE_OMP | GATE_SCOPE_MARK)))
		gomp_commit(slice, end_ticks, detail);
}

/* What a thread had to itself ends. */
static inline void gomp_held_close(const struct gomp_slice *held,
				   uint64_t end_ticks)
{
	static const struct gomp_detail nothing;

	gomp_short_close(
		held,
		thin_site(held->thread, EVENT_OMP_ACQUIRED, 0, 0, held->sync),
		0, end_ticks, &nothing);
}

/* A wait ends that is drawn, with the tasks in it; `from`: as in its event. */
static inline void gomp_wait_close(const struct gomp_slice *slice,
				   const struct thin_frame *around,
				   uint32_t from, uint64_t end_ticks)
{
	struct thread *thread = slice->thread;
	const uint32_t bits = gate_bits();
	struct gomp_detail with;

	if (unlikely(bits == GATE_UNDECIDED || thread_self != thread)) {
		gomp_slice_stray(slice);
		return;
	}
	end_ticks = gomp_ended(slice, end_ticks);
	with = gomp_with_tasks(thread, around, end_ticks - slice->start_ticks,
			       end_ticks);
	with.task = from;
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&thread->depth, slice->depth);
	if (likely(bits & (GATE_OMP | GATE_SCOPE_MARK)))
		gomp_commit(slice, end_ticks, &with);
}

/* A wait ends that is thinned and on no open slice: drawn if it was long. */
static inline void gomp_wait_thinned(struct thread *thread,
				     struct thin_site *site,
				     struct gomp_slice *slice,
				     const struct thin_frame *around,
				     uint64_t end_ticks)
{
	const uint32_t bits = gate_bits();
	uint64_t took, tasks;

	slice->thread = thread;
	if (unlikely(bits == GATE_UNDECIDED || thread_self != thread)) {
		gomp_slice_stray(slice);
		return;
	}
	end_ticks = gomp_ended(slice, end_ticks);
	took = end_ticks - slice->start_ticks;
	tasks = min_u64(thin_tasks_ticks(thread, around), took);
	/* What the sums are told of is the time without tasks. */
	if (likely(bits & GATE_OMP && took - tasks < thread->thin.long_ticks) &&
	    (thin_add(thread, site, slice->start_ticks + tasks, end_ticks) ||
	     thin_mark(thread, site, slice->start_ticks + tasks, end_ticks))) {
		thin_leave(thread, around);
		thread->thin.frame.idle += took - tasks;
	} else {
		gomp_thin_wait(slice, around, site->outlined, end_ticks);
	}
}

#endif
