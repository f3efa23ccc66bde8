/* SPDX-License-Identifier: MIT */
/*
 * gomp_slice.h - one slice of OpenMP time, from its opening to its event.
 *
 * A slice lies on the stack of the hook that makes it.  Opening it pushes it on
 * the thread's open slices; closing it puts that stack back to where it was,
 * whatever longjmp() or an exception left there, and commits one event, also
 * behind the end of its window as long as there is a session: the slice began
 * in it, and is clipped there.
 *
 * After fork() a child may run on through our frames.  Its gate is then
 * undecided or its thread another, and nothing is touched: the record that the
 * slice points to is the parent's.
 */
#ifndef PRELOAD_GOMP_SLICE_H
#define PRELOAD_GOMP_SLICE_H

#include "collector/system/clock.h"
#include "collector/session/gate.h"
#include "collector/session/thin.h"
#include "preload/gomp/gomp_site.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"

struct gomp_slice {
	struct thread *thread; /* NULL: not recorded */
	uint64_t start_ticks;
	uint64_t region;
	uint64_t code;
	uint32_t depth; /* of the open slices, before this one */
	uint16_t kind;	/* enum event_kind */
	uint16_t sync;	/* enum omp_sync */
};

/* What an event says beyond its slice; in its order, so that the compiler
 * copies pairs at once. */
struct gomp_detail {
	uint32_t outlined; /* event.stack: from code to the outlined function */
	uint32_t outer; /* event.extra: from code to what it is named after */
	uint32_t team;
	uint32_t thread;
	uint32_t task;
	uint16_t schedule;
	uint16_t flags;
};

/* The call stack of a region that begins, by the gate's bits; 0: none is
 * wanted. */
uint32_t gomp_region_stack(uint32_t bits);

static inline bool gomp_is_recording(void)
{
	return load_relaxed(&gate_page.bits) & GATE_OMP;
}

/* No window is open, but one may open before what begins now has ended. */
static inline bool gomp_may_record(void)
{
	return !gomp_is_recording() && gate_may_record(GATE_OMP);
}

/* The innermost slice lay deeper than open slices are kept, and what ends was
 * known by it alone. */
static inline void gomp_shut_deep(struct thread *thread)
{
	thread_shut(thread);
	hook_unfollowed();
}

/* True if the open slices of this record are still this thread's to move. */
static inline bool gomp_is_mine(const struct thread *thread)
{
	return gate_bits() != GATE_UNDECIDED && thread_self == thread;
}

/* The innermost OpenMP slice that is open, NULL none. */
static inline const struct open_slice *
gomp_innermost(const struct thread *thread)
{
	uint32_t depth = load_relaxed(&thread->depth);

	if (unlikely(depth > OPEN_SLICES_MAX))
		depth = OPEN_SLICES_MAX;
	while (depth--)
		if (likely(thread->open[depth].region))
			return &thread->open[depth];
	return NULL;
}

/* Two readings of the counter, one soon after the other, may execute at once
 * and give the same value.  A slice then begins so much, a nanosecond or more,
 * after the one around it that everybody sees which is inside. */
#if defined(__x86_64__)
#define GOMP_TICKS_APART 8u
#else
#define GOMP_TICKS_APART 1u
#endif

/* A counter of 25 million a second is still the same when such a slice ends. */
static inline uint64_t gomp_ended(const struct gomp_slice *slice,
				  uint64_t end_ticks)
{
#if defined(__x86_64__)
	(void)slice;
	return end_ticks;
#else
	return max_u64(end_ticks, slice->start_ticks);
#endif
}

/* One event.  A signal handler that comes between finds the thread busy. */
static inline void gomp_commit(const struct gomp_slice *slice,
			       uint64_t end_ticks,
			       const struct gomp_detail *detail)
{
	struct thread *thread = thread_fill();
	struct event *event = ring_reserve(&thread->ring, 1);

	if (likely(event)) {
		event->kind = slice->kind;
		event->flags = detail->flags;
		event->name = 0;
		event->outlined_offset = detail->outlined;
		event->extra = detail->outer;
		event->start_ticks = slice->start_ticks;
		event->end_ticks = gomp_ended(slice, end_ticks);
		event->omp.region = slice->region;
		event->omp.code = slice->code;
		event->omp.team = detail->team;
		event->omp.thread = detail->thread;
		event->omp.sync = slice->sync;
		event->omp.schedule = detail->schedule;
		event->omp.task = detail->task;
		ring_commit(&thread->ring, 1, 1);
		/* Another core may still have the next line. */
		prefetch_to_write(event + 1);
	} else {
		ring_refuse(&thread->ring, slice->kind, end_ticks);
	}
	thread_unbusy(thread);
}

/* Opens a slice at `start_ticks` on its thread's record.  By value: what was
 * just written isn't read again, see open_slice_what(). */
static inline struct gomp_slice gomp_slice_pushed(struct gomp_slice slice,
						  uint64_t start_ticks)
{
	struct thread *thread = slice.thread;
	const uint32_t depth = load_relaxed(&thread->depth);

	if (likely(depth - 1 < OPEN_SLICES_MAX))
		start_ticks = max_u64(start_ticks,
				      thread->open[depth - 1].start_ticks +
					      GOMP_TICKS_APART);
	slice.start_ticks = start_ticks;
	slice.depth = depth;
	thread_open(thread, (enum event_kind)slice.kind, start_ticks, 0,
		    slice.code, slice.region, slice.sync);
	return slice;
}

static inline void gomp_slice_push(struct gomp_slice *slice,
				   uint64_t start_ticks)
{
	*slice = gomp_slice_pushed(*slice, start_ticks);
}

/* A slice inside whatever is open, which it isn't yet. */
static inline struct gomp_slice gomp_slice_inside(struct thread *thread,
						  const struct gomp_site *site,
						  const void *return_address,
						  enum event_kind kind,
						  enum omp_sync sync)
{
	const struct open_slice *outer = gomp_innermost(thread);
	struct gomp_slice slice = {.thread = thread,
				   .region = outer ? outer->region : 0,
				   .code = site->code,
				   .kind = (uint16_t)kind,
				   .sync = (uint16_t)sync};

	if (unlikely(!slice.code))
		slice.code = outer ? outer->code : (uint64_t)return_address;
	return slice;
}

/* Opens a slice inside whatever is open.  False: nothing is recorded. */
static inline bool gomp_slice_open(struct gomp_slice *slice,
				   const struct gomp_site *site,
				   const void *return_address,
				   enum event_kind kind, enum omp_sync sync)
{
	slice->thread = hook_thread();
	if (unlikely(!slice->thread))
		return false;
	*slice =
		gomp_slice_pushed(gomp_slice_inside(slice->thread, site,
						    return_address, kind, sync),
				  clock_ticks());
	return true;
}

/* A call that thin_skips() said is over: its mark, or the slice as an event
 * where that can't be. */
void gomp_thin_end(struct thread *thread, struct thin_site *site,
		   struct gomp_slice *slice, uint64_t end_ticks,
		   const struct gomp_detail *detail);

/* Takes a slice back: no event. */
static inline void gomp_slice_drop(const struct gomp_slice *slice)
{
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	if (gomp_is_mine(slice->thread))
		store_release(&slice->thread->depth, slice->depth);
}

/* Closed where it can't be: on another thread it is counted, in a forked child
 * it is the parent's. */
void gomp_slice_stray(const struct gomp_slice *slice);

/* Closes a slice at `end_ticks`. */
static inline void gomp_slice_close(const struct gomp_slice *slice,
				    uint64_t end_ticks,
				    const struct gomp_detail *detail)
{
	const uint32_t bits = gate_bits();

	if (unlikely(bits == GATE_UNDECIDED || thread_self != slice->thread)) {
		gomp_slice_stray(slice);
		return;
	}
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&slice->thread->depth, slice->depth);
	if (likely(bits & (GATE_OMP | GATE_SCOPE_MARK)))
		gomp_commit(slice, end_ticks, detail);
}

#endif
