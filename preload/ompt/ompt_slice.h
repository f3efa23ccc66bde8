/* SPDX-License-Identifier: MIT */
/*
 * ompt_slice.h - what the OMPT callbacks share: slices that begin in one
 * callback and end in another.
 *
 * Between the two a wait, or what is held, lies on its thread's open slices
 * alone.  One that is deeper than those are kept is counted at its end; one
 * that begins while nothing is recorded is hidden there.  So each end finds its
 * own beginning and not one further out.  What a callback closes takes along
 * whatever was left open above it.
 *
 * clang outlines the body of a region into a function without a name of its
 * own.  A call in such a body is named after the region's function: the
 * distance to the region's code is kept as the slice's name and the event's
 * `extra`.
 */
#ifndef PRELOAD_OMPT_SLICE_H
#define PRELOAD_OMPT_SLICE_H

#include "preload/gomp/gomp_thin.h"
#include "preload/ompt/ompt_abi.h"

/* The runtime's own; NULL: it has none. */
extern ompt_get_parallel_info *ompt_parallel_info;

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

/* Marks in the word of an implicit task: it is one; and it has the share of a
 * team's member open. */
#define OMPT_IMPLICIT (UINT64_C(1) << 62)
#define OMPT_MEMBER   (UINT64_C(1) << 63)

/* A member's share of its region ends, if it has one open. */
void ompt_member_end(union ompt_word *task);

/* The code that names a region; NULL: it isn't recorded. */
const void *ompt_region_code(const union ompt_word *parallel);

/* The site of a return address. */
static inline struct gomp_site *ompt_site(const void *code)
{
	return gomp_site(NULL, (gomp_function *)((uintptr_t)code - 1));
}

/* This thread's record if something is to be opened on it. */
static inline struct thread *ompt_thread(void)
{
	return gomp_is_recording() ? hook_thread() : NULL;
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

/* A task or a wait has been opened at a depth. */
static inline void ompt_enter(struct thread *thread, uint32_t depth)
{
	if (likely(depth < OPEN_SLICES_MAX))
		thin_enter(thread, &thread->around[depth]);
}

/* The code that a slice is named after. */
static inline uint64_t ompt_named(const struct open_slice *slice)
{
	return slice->code + (uint64_t)(int64_t)(int32_t)slice->name;
}

/* `sync` of a hidden slice, whose kind is EVENT_NONE. */
static inline unsigned int ompt_hidden(enum event_kind kind, unsigned int sync)
{
	return 0x8000 | (unsigned int)kind << 8 | sync;
}

_Static_assert(EVENT_KIND_COUNT <= 0x80 && OMP_SYNC_COUNT <= 32,
	       "a kind and a set of words fit");

/* Nothing is recorded: only what ends it must know of it. */
static inline void ompt_hide(enum event_kind kind, enum omp_sync sync)
{
	struct thread *thread = thread_self;

	if (thread_records(thread) && gate_bits() != GATE_UNDECIDED)
		thread_open(thread, EVENT_NONE, 0, 0, 0, 0,
			    ompt_hidden(kind, sync));
}

/* A wait that is to leave a mark alone, unless it is long. */
static inline bool ompt_thins(struct thread *thread, enum event_kind kind,
			      enum omp_sync sync, uint32_t from)
{
	return kind == EVENT_OMP_WAIT &&
	       thin_skips(thread, thin_site(thread, kind, 0, from, sync));
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

	if (unlikely(!slice.thread)) {
		ompt_hide(kind, sync);
		return;
	}
	if (kind == EVENT_OMP_WAIT)
		ompt_enter(slice.thread, load_relaxed(&slice.thread->depth));
	if (ompt_thins(slice.thread, kind, sync, gomp_wait_from(sync, code))) {
		/* The start tells it from what is hidden for good. */
		thread_open(slice.thread, EVENT_NONE, start_ticks, 0,
			    (uint64_t)code, 0, ompt_hidden(kind, sync));
		return;
	}
	outer = gomp_innermost(slice.thread);
	if (outer) {
		slice.region = outer->region;
		slice.code = ompt_named(outer);
	}
	ompt_open(&slice, 0, start_ticks);
}

/* This thread's record if it has open slices. */
static inline struct thread *ompt_open_thread(void)
{
	struct thread *thread = thread_self;

	return thread_records(thread) && gate_bits() != GATE_UNDECIDED ? thread
								       : NULL;
}

/* The open slice at a depth as a slice to be closed. */
static inline struct gomp_slice ompt_slice_at(struct thread *thread,
					      uint32_t depth)
{
	const struct open_slice *open = &thread->open[depth];

	return (struct gomp_slice){.thread = thread,
				   .start_ticks = open->start_ticks,
				   .code = open->code,
				   .region = open->region,
				   .depth = depth,
				   .kind = open->kind,
				   .sync = open->sync};
}

/* A word in a set of them. */
static inline uint32_t ompt_word(enum omp_sync sync)
{
	return UINT32_C(1) << sync;
}

/* A wait that was opened as a thinned one. */
static inline void ompt_thin_end(struct gomp_slice *slice, enum event_kind kind,
				 unsigned int sync, uint32_t from,
				 uint64_t end_ticks)
{
	struct thread *thread = slice->thread;
	struct thin_site *site = thin_site(thread, kind, 0, from, sync);

	slice->kind = (uint16_t)kind;
	slice->sync = (uint16_t)sync;
	if (site)
		gomp_wait_thinned(thread, site, slice,
				  &thread->around[slice->depth], end_ticks);
}

/* Closes the innermost wait, or what is held, with one of these words.  Its
 * beginning lies in the same member of a team, and was called from the same
 * place. */
static inline void ompt_close(enum event_kind kind, uint32_t words,
			      const void *code, uint64_t end_ticks)
{
	struct thread *thread = ompt_open_thread();
	uint32_t depth = thread ? load_relaxed(&thread->depth) : 0;
	struct gomp_slice slice;

	if (unlikely(depth > OPEN_SLICES_MAX)) {
		gomp_shut_deep(thread);
		return;
	}
	while (depth--) {
		const struct open_slice *open = &thread->open[depth];
		const unsigned int sync = open->sync & 0xff;
		const bool is_hidden = open->kind == EVENT_NONE &&
				       open->sync == ompt_hidden(kind, sync);

		if (open->kind == EVENT_OMP_IMPLICIT ||
		    open->kind == EVENT_OMP_REGION)
			return;
		if (!(is_hidden || open->kind == kind) || !(words >> sync & 1))
			continue;
		slice = ompt_slice_at(thread, depth);
		if (is_hidden) {
			gomp_slice_drop(&slice);
			if (slice.start_ticks)
				ompt_thin_end(&slice, kind, sync,
					      gomp_wait_from(sync, code),
					      end_ticks);
		} else if (kind == EVENT_OMP_WAIT) {
			gomp_wait_close(&slice, &thread->around[depth],
					gomp_wait_from(sync, code), end_ticks);
		} else {
			gomp_held_close(&slice, end_ticks);
		}
		return;
	}
}

#endif
