/* SPDX-License-Identifier: MIT */
/*
 * ompt_slice.h - what the OMPT callbacks share: slices that begin in one
 * callback and end in another.
 *
 * Between the two a slice lies on its thread's open slices alone, so one that
 * is deeper than those are kept is not recorded.  What a callback closes takes
 * along whatever was left open above it.
 *
 * clang outlines the body of a region into a function without a name of its
 * own.  A call in such a body is named after the region's function: the
 * distance to the region's code is kept as the slice's name and the event's
 * `extra`.
 */
#ifndef PRELOAD_OMPT_SLICE_H
#define PRELOAD_OMPT_SLICE_H

#include "preload/gomp/gomp_slice.h"
#include "preload/ompt/ompt_abi.h"

/* The callbacks of ompt_region.c, ompt_task.c and ompt_sync.c. */
void ompt_parallel_begin(union ompt_word *task, const struct ompt_frame *frame,
			 union ompt_word *parallel, unsigned int threads,
			 int flags, const void *code);
void ompt_parallel_end(union ompt_word *parallel, union ompt_word *task,
		       int flags, const void *code);
void ompt_implicit_task(int endpoint, union ompt_word *parallel,
			union ompt_word *task, unsigned int team,
			unsigned int thread, int flags);
void ompt_task_create(union ompt_word *parent, const struct ompt_frame *frame,
		      union ompt_word *task, int flags, int depends,
		      const void *code);
void ompt_task_schedule(union ompt_word *before, int status,
			union ompt_word *after);
void ompt_sync_region(int kind, int endpoint, union ompt_word *parallel,
		      union ompt_word *task, const void *code);
void ompt_sync_region_wait(int kind, int endpoint, union ompt_word *parallel,
			   union ompt_word *task, const void *code);
void ompt_mutex_acquire(int kind, unsigned int hint,
			unsigned int implementation, uint64_t lock,
			const void *code);
void ompt_mutex_acquired(int kind, uint64_t lock, const void *code);
void ompt_mutex_released(int kind, uint64_t lock, const void *code);
void ompt_work(int kind, int endpoint, union ompt_word *parallel,
	       union ompt_word *task, uint64_t count, const void *code);

/* A member's share of its region ends, if it has one open. */
void ompt_member_end(union ompt_word *task);

/* The code that names a region; NULL: it isn't recorded. */
const void *ompt_region_code(const union ompt_word *parallel);

/* The site of a return address. */
static inline struct gomp_site *ompt_site(const void *code)
{
	return gomp_site(NULL, (gomp_function *)((uintptr_t)code - 1));
}

/* This thread's record if something can be opened on it. */
static inline struct thread *ompt_thread(void)
{
	struct thread *thread = gomp_is_recording() ? hook_thread() : NULL;

	if (unlikely(!thread) ||
	    unlikely(load_relaxed(&thread->depth) >= OPEN_SLICES_MAX))
		return NULL;
	return thread;
}

/* Opens a slice of this kind, whose other members are filled in. */
static inline void ompt_open(struct gomp_slice *slice, uint32_t outer,
			     uint64_t start_ticks)
{
	slice->start_ticks = start_ticks;
	slice->depth = load_relaxed(&slice->thread->depth);
	thread_open(slice->thread, (enum event_kind)slice->kind, start_ticks,
		    outer, slice->code, slice->region, slice->sync);
}

/* The code that a slice is named after. */
static inline uint64_t ompt_named(const struct open_slice *slice)
{
	return slice->code + (uint64_t)(int64_t)(int32_t)slice->name;
}

/* Opens a wait or what is held inside whatever is open. */
static inline void ompt_open_inside(enum event_kind kind, enum omp_sync sync,
				    const void *code, uint64_t start_ticks)
{
	struct gomp_slice slice = {.thread = ompt_thread(),
				   .kind = (uint16_t)kind,
				   .sync = (uint16_t)sync,
				   .code = (uint64_t)code};
	const struct open_slice *outer;

	if (unlikely(!slice.thread))
		return;
	outer = gomp_innermost(slice.thread);
	if (outer) {
		slice.region = outer->region;
		slice.code = ompt_named(outer);
	}
	ompt_open(&slice, 0, start_ticks);
}

/* The innermost open slice of a kind as a slice to be closed; false: there is
 * none. */
static inline bool ompt_find(struct gomp_slice *slice, enum event_kind kind,
			     unsigned int sync)
{
	struct thread *thread = thread_self;
	uint32_t depth;

	if (!thread_records(thread) || gate_bits() == GATE_UNDECIDED)
		return false;
	depth = load_relaxed(&thread->depth);
	if (unlikely(depth > OPEN_SLICES_MAX))
		depth = OPEN_SLICES_MAX;
	while (depth--) {
		const struct open_slice *open = &thread->open[depth];

		if (open->kind != kind ||
		    (open->sync != sync && kind != EVENT_OMP_IMPLICIT))
			continue;
		*slice = (struct gomp_slice){.thread = thread,
					     .start_ticks = open->start_ticks,
					     .code = open->code,
					     .region = open->region,
					     .depth = depth,
					     .kind = (uint16_t)kind,
					     .sync = (uint16_t)sync};
		return true;
	}
	return false;
}

/* Closes the innermost slice of a kind, if there is one. */
static inline void ompt_close(enum event_kind kind, enum omp_sync sync,
			      uint64_t end_ticks)
{
	static const struct gomp_detail nothing;
	struct gomp_slice slice;

	if (ompt_find(&slice, kind, sync))
		gomp_slice_close(&slice, end_ticks, &nothing);
}

#endif
