/* SPDX-License-Identifier: MIT */
/* heap.c - counts and records blocks: all that isn't the shortest way. */
#include "preload/heap/heap.h"

#include "collector/session/pool.h"
#include "collector/system/sampling.h"
#include "preload/heap/early.h"
#include "preload/process/hook.h"
#include "preload/stack/unwind.h"
#include <errno.h>

struct heap_settings heap = {.large_bytes = UINT64_MAX};

/* Where another malloc comes first, what still reaches us (an aligned block,
 * say) is no picture of the heap; and without sizes there is none either. */
static bool can_be_counted(struct session *session)
{
	const char *object;

	if (!real_sees_heap(&object))
		session_note(session,
			     "heap not recorded: the allocator is built into "
			     "%s",
			     object);
	else if (real_sizer() == REAL_SIZE_UNKNOWN)
		session_note(session, "heap not recorded: the allocator has no "
				      "malloc_usable_size()");
	else
		return true;
	return false;
}

void heap_start(struct session *session, bool stacks, uint32_t *base,
		uint32_t *record)
{
	const struct options *options = &session->head->options;
	const bool is_whole = options->malloc == MALLOC_ALL ||
			      options->malloc == MALLOC_SITES;

	*base = *record = 0;
	heap.large_bytes = UINT64_MAX;
	heap.plain = real_sizer() == REAL_SIZE_HEADER && !early_is_used();
	heap.timed = options->malloc == MALLOC_ALL && options->malloc_duration;
	heap.stacks = stacks;
	heap.stacked_fast = stacks && is_whole && heap.plain &&
			    clock_uses_counter && !heap.timed;
	heap.sampled = options->malloc == MALLOC_SAMPLED && samples_start();
	heap.sampled_fast = heap.sampled && heap.plain;
	heap.sample_mean = (uint64_t)options->malloc_sample;
	heap.fast = heap.plain && clock_uses_counter && !heap.timed &&
		    options->malloc != MALLOC_SAMPLED && !(stacks && is_whole);
	if (options->malloc == MALLOC_OFF || !can_be_counted(session))
		return;
	*base = GATE_HEAP;
	if (options->malloc == MALLOC_LARGE) {
		heap.large_bytes = (uint64_t)options->malloc_min;
		*record = GATE_HEAP_LARGE;
	}
	if (is_whole || heap.sampled)
		*record = GATE_HEAP_ALL;
	if (options->malloc == MALLOC_ALL && options->max_overhead) {
		/* heap_alloc() then asks each time: GATE_HEAP_THIN. */
		heap.large_bytes = 0;
		heap.thin_bytes = (uint64_t)options->malloc_min;
		session->head->heap_has_stacks = stacks;
	}
	/* Only glibc's own figures describe the blocks that we shall count. */
	if (real_heap_is_libcs() && real.mallinfo2) {
		const struct mallinfo2 info = real.mallinfo2();

		session->head->heap_base_bytes =
			(int64_t)(info.uordblks + info.hblkhd);
	}
}

COLD uint64_t heap_size_asked(void *ptr)
{
	if (early_owns(ptr))
		return early_size(ptr);
	if (real_sizer() == REAL_SIZE_HEADER)
		return heap_size_plain(ptr);
	return real_sizer() == REAL_SIZE_FUNCTION ? real.malloc_usable_size(ptr)
						  : 0;
}

static inline uint64_t size_of(void *ptr)
{
	return likely(heap.plain) ? heap_size_plain(ptr) : heap_size_asked(ptr);
}

/* How many of its kind were passed over so far; see thin.h. */
static inline void tell_skipped(struct event *event,
				const struct thread *thread)
{
	event->outlined_offset =
		(uint32_t)thread->thin
			.heap_skipped[event->kind == EVENT_HEAP_FREE];
}

/* Before our constructor, and while a thread gets libunwind's memory, there is
 * no walk: who called the hook is known all the same, where that left by jumps.
 */
static COLD uint32_t caller_alone(const struct thread *thread,
				  const void *caller)
{
	const uint64_t frame = (uint64_t)(uintptr_t)caller;
	struct session *session = load_relaxed(&session_here);

	return frame && !unwind_is_ours(frame) && unwind_is_early(thread)
		       ? stacks_put(session, &frame, 1)
		       : 0;
}

static __attribute__((noinline)) void
record(struct thread *thread, unsigned int kind, unsigned int flags, void *ptr,
       uint64_t bytes, uint64_t spare, uint64_t ticks, uint64_t dur_ticks,
       const void *caller)
{
	struct event *event;
	uint32_t stack = 0;
	const uint64_t chunk = thread->ring.chunk;
	struct thread *was;

	was = thread_fill();
	if (heap.stacks && kind == EVENT_HEAP_ALLOC)
		stack = unwind_take(thread, UNWIND_OURS_MAX);
	if (unlikely(!stack && caller))
		stack = caller_alone(thread, caller);
	event = ring_reserve(&thread->ring, 1);
	if (unlikely(thread->ring.chunk != chunk) && heap.thin_bytes)
		thin_heap_look(thread, load_relaxed(&session_here));
	if (likely(event)) {
		heap_fill(event, thread, kind, flags, ptr, bytes, spare, ticks);
		if (heap.timed)
			event->heap.spare_bytes = event_timed(spare, dur_ticks);
		event->stack = stack;
		tell_skipped(event, thread);
		ring_commit(&thread->ring, 1, 1);
	} else {
		ring_refuse(&thread->ring, (enum event_kind)kind, ticks);
	}
	thread_unbusy(was);
}

static inline bool may_skip(const void *ptr, uint64_t bytes)
{
	return bytes < heap.thin_bytes && thin_heap_skips(ptr);
}

/* What is passed over fills no chunk. */
static COLD void look_back(struct thread *thread)
{
	struct thread *was = thread_fill();

	thin_heap_look(thread, load_relaxed(&session_here));
	thread_unbusy(was);
}

static inline void count_skipped(struct thread *thread, unsigned int kind)
{
	uint64_t *const skipped =
		&thread->thin.heap_skipped[kind == EVENT_HEAP_FREE];

	thread->ring.committed++;
	if (unlikely(!(++*skipped % THIN_CALLS)))
		look_back(thread);
}

/* Does it leave nothing but a count? */
static inline bool is_skipped(struct thread *thread, unsigned int kind,
			      const void *ptr, uint64_t bytes)
{
	if (!may_skip(ptr, bytes))
		return false;
	count_skipped(thread, kind);
	return true;
}

void *heap_alloc_large(struct thread *thread, void *ptr, uint64_t bytes,
		       uint64_t asked)
{
	const uint32_t open = gate_bits();

	if (open & GATE_HEAP_LARGE ||
	    (open & GATE_HEAP_THIN &&
	     !is_skipped(thread, EVENT_HEAP_ALLOC, ptr, bytes)))
		record(thread, EVENT_HEAP_ALLOC, 0, ptr, bytes,
		       heap_spare(bytes, asked), clock_ticks(), 0, NULL);
	return ptr;
}

void heap_free_large(struct thread *thread, void *ptr, uint64_t bytes)
{
	const uint32_t open = gate_bits();

	if (open & GATE_HEAP_LARGE ||
	    (open & GATE_HEAP_THIN &&
	     !is_skipped(thread, EVENT_HEAP_FREE, ptr, bytes)))
		record(thread, EVENT_HEAP_FREE, 0, ptr, bytes, 0, clock_ticks(),
		       0, NULL);
}

/* Is a block of this size an event now?  Those that are thinned are. */
static inline bool is_wanted(uint64_t bytes)
{
	const uint32_t open = gate_bits();

	return (open & (GATE_HEAP_ALL | GATE_HEAP_THIN)) ||
	       ((open & GATE_HEAP_LARGE) && bytes >= heap.large_bytes);
}

static inline bool is_thinned(const void *ptr, uint64_t bytes)
{
	return unlikely((gate_bits() & (GATE_HEAP_ALL | GATE_HEAP_THIN)) ==
			GATE_HEAP_THIN) &&
	       may_skip(ptr, bytes);
}

static uint64_t draw_distance(struct thread *thread)
{
	return (uint64_t)sampling_distance(&thread->sample_state,
					   heap.sample_mean);
}

/* Does the next sample lie in the last so many bytes? */
static bool is_hit(struct thread *thread, uint64_t bytes)
{
	const uint64_t end = thread->ring.heap_alloc_bytes;

	if (likely(end < thread->sample_at))
		return false;
	if (unlikely(!thread->sample_state)) {
		/* The first sample, whose distance nobody drew yet. */
		thread->sample_state =
			clock_ticks() ^ (uint64_t)thread->tid << 32 ^ 1;
		thread->sample_at = end - bytes + draw_distance(thread);
		if (end < thread->sample_at)
			return false;
	}
	thread->sample_at = end + draw_distance(thread);
	return true;
}

/* Of a sample, whose free is to find it. */
static bool sample_is_wanted(struct thread *thread, void *ptr, uint64_t bytes)
{
	if (!is_hit(thread, bytes) || !(gate_bits() & GATE_HEAP_ALL))
		return false;
	if (likely(samples_add(ptr)))
		return true;
	add_relaxed(&load_relaxed(&session_here)->head->samples_refused, 1);
	return false;
}

/* Is a new block an event? */
static inline bool alloc_is_wanted(struct thread *thread, void *ptr,
				   uint64_t bytes)
{
	if (unlikely(is_thinned(ptr, bytes))) {
		count_skipped(thread, EVENT_HEAP_ALLOC);
		return false;
	}
	if (likely(!heap.sampled))
		return is_wanted(bytes);
	return sample_is_wanted(thread, ptr, bytes);
}

/* ... or one that goes?  Asked once: a sample is forgotten. */
static inline bool free_is_wanted(void *ptr, uint64_t bytes)
{
	if (likely(!heap.sampled))
		return is_wanted(bytes);
	return samples_may_have(ptr) && samples_take(ptr) &&
	       (gate_bits() & GATE_HEAP_ALL);
}

void *heap_alloc_hit(struct thread *thread, void *ptr, uint64_t bytes,
		     uint64_t asked)
{
	if (sample_is_wanted(thread, ptr, bytes))
		record(thread, EVENT_HEAP_ALLOC, 0, ptr, bytes,
		       heap_spare(bytes, asked), clock_ticks(), 0, NULL);
	return ptr;
}

void *heap_alloc_stacked(void *ptr, uint64_t asked)
{
	struct thread *thread = thread_self;
	uint64_t bytes, ticks;
	struct event *event;
	uint32_t stack;

	if (unlikely(!ptr))
		return ptr;
	if (unlikely(!thread_records(thread) || !(gate_bits() & GATE_HEAP_ALL)))
		return heap_alloc_slow(ptr, asked, 0);
	ticks = clock_counter();
	if (unlikely(!heap_claim(thread)))
		return heap_alloc_ring_full(thread, ptr, asked);
	stack = unwind_take(thread, 1);
	if (unlikely(!stack))
		stack = caller_alone(thread, __builtin_return_address(0));
	bytes = heap_size_plain(ptr);
	heap_count_alloc(thread, bytes, asked);
	event = ring_slot(&thread->ring, thread->ring.next);
	heap_fill(event, thread, EVENT_HEAP_ALLOC, 0, ptr, bytes, bytes - asked,
		  ticks);
	event->stack = stack;
	ring_commit(&thread->ring, 1, 1);
	thread_unbusy(thread);
	return ptr;
}

/* Whose counters a call goes to; NULL: it is nobody's.  One that is lent is
 * our own thread's, which stays busy.  Of an allocator that is asked for sizes,
 * calls that it makes by itself would count there twice. */
static struct thread *counting(void)
{
	struct thread *thread = hook_thread_of_any();

	return likely(thread || !heap.plain) ? thread : hook_lent();
}

void *heap_alloc_slow(void *ptr, uint64_t asked, uint64_t start_ticks)
{
	struct thread *thread;
	uint64_t bytes, ticks;

	if (unlikely(!ptr))
		return ptr;
	thread = counting();
	if (unlikely(!thread))
		return ptr;
	bytes = size_of(ptr);
	heap_count_alloc(thread, bytes, asked);
	if (!alloc_is_wanted(thread, ptr, bytes))
		return ptr;
	ticks = clock_ticks();
	record(thread, EVENT_HEAP_ALLOC, 0, ptr, bytes,
	       heap_spare(bytes, asked), ticks,
	       start_ticks ? ticks - start_ticks : 0,
	       heap.stacks ? __builtin_return_address(0) : NULL);
	return ptr;
}

void heap_free_slow(void *ptr)
{
	struct thread *thread = counting();
	uint64_t bytes;

	if (unlikely(!thread)) {
		free_is_wanted(ptr, 0);
		return;
	}
	bytes = size_of(ptr);
	thread->ring.heap_frees++;
	thread->ring.heap_free_bytes += bytes;
	if (unlikely(is_thinned(ptr, bytes)))
		count_skipped(thread, EVENT_HEAP_FREE);
	else if (free_is_wanted(ptr, bytes))
		record(thread, EVENT_HEAP_FREE, 0, ptr, bytes, 0, clock_ticks(),
		       0, NULL);
}

void *heap_alloc_ring_full(struct thread *thread, void *ptr, uint64_t asked)
{
	if (unlikely(!pool_keeps_out(&thread->ring))) {
		thread_unbusy(thread);
		return heap_alloc_slow(ptr, asked, 0);
	}
	heap_count_alloc(thread, heap_size_plain(ptr), asked);
	ring_refuse_again(&thread->ring, EVENT_HEAP_ALLOC);
	thread_unbusy(thread);
	return ptr;
}

void heap_free_ring_full(struct thread *thread, void *ptr)
{
	if (unlikely(!pool_keeps_out(&thread->ring))) {
		thread_unbusy(thread);
		heap_free_slow(ptr);
		return;
	}
	thread->ring.heap_frees++;
	thread->ring.heap_free_bytes += heap_size_plain(ptr);
	ring_refuse_again(&thread->ring, EVENT_HEAP_FREE);
	thread_unbusy(thread);
}

/*
 * A realloc is one free and one alloc, but known to have happened only when it
 * has returned: a failed one keeps the old block.  The free bears the time
 * before the call, so that another thread that got the old address meanwhile
 * comes after it; both are committed together.
 */
void heap_move_begin(struct heap_move *move, void *old)
{
	move->old = old;
	move->old_bytes = old ? size_of(old) : 0;
	move->was_sample = heap.sampled && old && samples_may_have(old) &&
			   samples_take(old);
	move->start_ticks = 0;
	move->is_skipped = old && is_thinned(old, move->old_bytes);
	if (heap.sampled ? move->was_sample && gate_bits() & GATE_HEAP_ALL
			 : is_wanted(move->old_bytes) && !move->is_skipped)
		move->start_ticks = clock_ticks();
}

static void record_move(struct thread *thread, const struct heap_move *move,
			void *made, uint64_t bytes, uint64_t spare)
{
	const int64_t live = heap_thread_live(thread);
	const uint64_t ticks = clock_ticks();
	struct thread *was;
	struct event *event;
	uint32_t stack;

	was = thread_fill();
	stack = heap.stacks ? unwind_take(thread, UNWIND_OURS_MAX) : 0;
	event = ring_reserve(&thread->ring, 2);
	if (likely(event)) {
		heap_fill(&event[0], thread, EVENT_HEAP_FREE, EVENT_REALLOC,
			  move->old, move->old_bytes, 0, move->start_ticks);
		event[0].heap.thread_live = live - (int64_t)bytes;
		heap_fill(&event[1], thread, EVENT_HEAP_ALLOC, EVENT_REALLOC,
			  made, bytes, spare, ticks);
		if (heap.timed)
			event[1].heap.spare_bytes =
				event_timed(spare, ticks - move->start_ticks);
		event[1].stack = stack;
		tell_skipped(&event[0], thread);
		tell_skipped(&event[1], thread);
		ring_commit(&thread->ring, 2, 2);
	} else {
		ring_refuse(&thread->ring, EVENT_HEAP_FREE, move->start_ticks);
		ring_refuse(&thread->ring, EVENT_HEAP_ALLOC, ticks);
	}
	thread_unbusy(was);
}

void heap_move_end(const struct heap_move *move, void *made, size_t size)
{
	const bool freed = move->old && (made || !size);
	struct thread *thread = counting();
	uint64_t bytes = 0, spare = 0;
	bool wanted;

	if (unlikely(move->was_sample && !freed))
		samples_add(move->old);
	if (unlikely(!thread || (!freed && !made)))
		return;
	if (made) {
		bytes = size_of(made);
		spare = heap_spare(bytes, size);
		heap_count_alloc(thread, bytes, size);
	}
	if (freed) {
		thread->ring.heap_frees++;
		thread->ring.heap_free_bytes += move->old_bytes;
		if (unlikely(move->is_skipped))
			count_skipped(thread, EVENT_HEAP_FREE);
	}
	wanted = made && alloc_is_wanted(thread, made, bytes);
	if (freed && wanted && move->start_ticks)
		record_move(thread, move, made, bytes, spare);
	else if (wanted)
		record(thread, EVENT_HEAP_ALLOC, freed ? EVENT_REALLOC : 0,
		       made, bytes, spare, clock_ticks(), 0, NULL);
	else if (freed && move->start_ticks)
		record(thread, EVENT_HEAP_FREE, made ? EVENT_REALLOC : 0,
		       move->old, move->old_bytes, 0, move->start_ticks, 0,
		       NULL);
}
