/* SPDX-License-Identifier: MIT */
/*
 * heap.h - what one call of the malloc family leaves behind.
 *
 * Each call updates the counters of its thread's record; blocks of at least
 * `large_bytes`, or every one with TRACEPROF_MALLOC=all, become events.  Sizes
 * are what the block holds, on both sides: glibc's own header is read in
 * place, another allocator is asked.  Of one that can't be asked, as Electric
 * Fence, nothing is counted, and the trace says so.  What the calls asked for
 * is summed up beside it, and stands in the events of new blocks.
 *
 * While a slot is being filled the thread is THREAD_FILLING: what a signal
 * handler allocates meanwhile is forwarded, and counted as missed.
 */
#ifndef PRELOAD_HEAP_H
#define PRELOAD_HEAP_H

#include "collector/session/gate.h"
#include "collector/session/thin.h"
#include "preload/heap/samples.h"
#include "preload/process/real.h"

/* Set by heap_start(), before the gate opens; then constant. */
struct heap_settings {
	uint64_t large_bytes; /* UINT64_MAX: none is large */
	bool plain; /* glibc's header can be read, no early block is about */
	bool fast;  /* plain, the processor's counter, and no durations; in
		      mode all no stacks either */
	bool timed; /* mode all, the call's duration too */
	bool stacked_fast; /* mode all with stacks, and all else as for fast */
	bool sampled;	   /* mode sampled */
	bool sampled_fast; /* the same, and plain */
	uint64_t sample_mean;
	uint64_t thin_bytes; /* mode all: from here on each block is drawn */
	bool stacks;	     /* each event of a new block gets its call stack */
};

extern struct heap_settings heap __attribute__((visibility("hidden")));

/* True when nobody asks about the heap: the process is decided, and neither
 * counters nor the watch want this call. */
static inline bool heap_is_shut(void)
{
	return (gate_bits() & (GATE_CLOSED | GATE_HEAP | GATE_HEAP_WATCH)) ==
	       GATE_CLOSED;
}

/* Reads the session's options.  The gate bits that are wanted: *base while
 * the process lives, *record while a window is open. */
void heap_start(struct session *session, bool stacks, uint32_t *base,
		uint32_t *record);

/* The size of any block, on cold paths; 0 not known. */
uint64_t heap_size_asked(void *ptr);

/* A large block was allocated, or is about to be freed.  The first returns
 * `ptr`: so the hook can leave by a jump and needs to keep nothing. */
void *heap_alloc_large(struct thread *thread, void *ptr, uint64_t bytes,
		       uint64_t asked);
void heap_free_large(struct thread *thread, void *ptr, uint64_t bytes);

/* Around the real call, in the full way: another allocator may call, inside,
 * functions that we stand before; those calls are not the program's. */
static inline struct thread *heap_enter_real(void)
{
	return heap.plain ? NULL : thread_busy();
}

static inline void heap_leave_real(struct thread *was)
{
	if (!heap.plain)
		thread_unbusy(was);
}

/* Every case: modes, sizes and clocks.  `start_ticks` is the time before the
 * call or 0.  The first returns `ptr`. */
void *heap_alloc_slow(void *ptr, uint64_t asked, uint64_t start_ticks);
void heap_free_slow(void *ptr);

/* glibc's own size, from the word before the block: the chunk's, less that word
 * and, for a chunk of its own mapping (bit 1), what that begins with. */
static inline uint64_t heap_size_plain(const void *ptr)
{
	const uint64_t word = ((const uint64_t *)ptr)[-1];
	uint64_t bytes = (word & ~(uint64_t)7) - 8;

	if (unlikely(word & 2)) {
		/* Keeps the compiler from doing this for every block. */
		atomic_signal_fence(memory_order_seq_cst);
		bytes -= real_mapped_head;
	}
	return bytes;
}

static inline int64_t heap_thread_live(const struct thread *thread)
{
	return (int64_t)(thread->ring.heap_alloc_bytes -
			 thread->ring.heap_free_bytes);
}

/* What a block holds beyond what was asked for, where its size may be one that
 * isn't known. */
static inline uint64_t heap_spare(uint64_t bytes, uint64_t asked)
{
	return bytes > asked ? bytes - asked : 0;
}

static inline void heap_fill(struct event *event, const struct thread *thread,
			     unsigned int kind, unsigned int flags,
			     const void *ptr, uint64_t bytes, uint64_t spare,
			     uint64_t ticks)
{
	event->kind = (uint16_t)kind;
	event->flags = (uint16_t)flags;
	event->name = 0;
	event->outlined_offset = 0;
	event->extra = 0;
	event->start_ticks = ticks;
	event->end_ticks = ticks;
	event->heap.address = (uint64_t)(uintptr_t)ptr;
	event->heap.size_bytes = bytes;
	event->heap.thread_live = heap_thread_live(thread);
	event->heap.spare_bytes = spare;
}

/* The same in mode all, under heap.fast, when heap_claim() found no room: the
 * thread is busy. */
void *heap_alloc_ring_full(struct thread *thread, void *ptr, uint64_t asked);
void heap_free_ring_full(struct thread *thread, void *ptr);

/* What follows are the shortest ways, valid under heap.fast. */

/* Busy for one event; false where the chunk has no room for it.  The look comes
 * after the word: a signal handler before it may take the slot. */
static inline bool heap_claim(struct thread *thread)
{
	thread_fill();
	return likely(thread->ring.next + (int64_t)sizeof(struct event) <=
		      thread->ring.stop);
}

/* Lines ahead that a ring's next slots are asked for: a new line comes from
 * another core or from memory, in some 100 ns, and until it is there the stores
 * behind it wait. */
#define HEAP_LINES_AHEAD 4

/* The event for which heap_claim() found room. */
static inline void heap_commit(struct thread *thread, unsigned int kind,
			       const void *ptr, uint64_t bytes, uint64_t spare)
{
	struct event *event = ring_slot(&thread->ring, thread->ring.next);

	prefetch_to_write(event + HEAP_LINES_AHEAD);
	heap_fill(event, thread, kind, 0, ptr, bytes, spare, clock_counter());
	ring_commit(&thread->ring, 1, 1);
	thread_unbusy(thread);
}

static inline void heap_count_alloc(struct thread *thread, uint64_t bytes,
				    uint64_t asked)
{
	thread->ring.heap_allocs++;
	thread->ring.heap_alloc_bytes += bytes;
	thread->asked_bytes += asked;
}

/* Modes counters and large; `asked` bytes were asked for. */
static inline void *heap_alloc(void *ptr, uint64_t asked)
{
	struct thread *thread = thread_self;

	if (unlikely(!ptr))
		return ptr;
	if (unlikely(!thread_records(thread)))
		return heap_alloc_slow(ptr, asked, 0);

	const uint64_t bytes = heap_size_plain(ptr);

	heap_count_alloc(thread, bytes, asked);
	if (unlikely(bytes >= heap.large_bytes))
		return heap_alloc_large(thread, ptr, bytes, asked);
	return ptr;
}

static inline void heap_free(void *ptr)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread_records(thread))) {
		heap_free_slow(ptr);
		return;
	}

	const uint64_t bytes = heap_size_plain(ptr);

	thread->ring.heap_frees++;
	thread->ring.heap_free_bytes += bytes;
	if (unlikely(bytes >= heap.large_bytes))
		heap_free_large(thread, ptr, bytes);
}

/* Mode all. */
static inline void *heap_alloc_all(void *ptr, uint64_t asked)
{
	struct thread *thread = thread_self;

	if (unlikely(!ptr))
		return ptr;
	if (unlikely(!thread_records(thread)))
		return heap_alloc_slow(ptr, asked, 0);
	if (unlikely(!heap_claim(thread)))
		return heap_alloc_ring_full(thread, ptr, asked);

	const uint64_t bytes = heap_size_plain(ptr);

	heap_count_alloc(thread, bytes, asked);
	heap_commit(thread, EVENT_HEAP_ALLOC, ptr, bytes, bytes - asked);
	return ptr;
}

static inline void heap_free_all(void *ptr)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread_records(thread))) {
		heap_free_slow(ptr);
		return;
	}
	if (unlikely(!heap_claim(thread))) {
		heap_free_ring_full(thread, ptr);
		return;
	}

	const uint64_t bytes = heap_size_plain(ptr);

	thread->ring.heap_frees++;
	thread->ring.heap_free_bytes += bytes;
	heap_commit(thread, EVENT_HEAP_FREE, ptr, bytes, 0);
}

/* Mode all with stacks, under heap.stacked_fast. */
void *heap_alloc_stacked(void *ptr, uint64_t asked);

/* Mode sampled, under heap.sampled_fast: the next sample lies in this block. */
void *heap_alloc_hit(struct thread *thread, void *ptr, uint64_t bytes,
		     uint64_t asked);

static inline void *heap_alloc_sampled(void *ptr, uint64_t asked)
{
	struct thread *thread = thread_self;

	if (unlikely(!ptr))
		return ptr;
	if (unlikely(!thread_records(thread)))
		return heap_alloc_slow(ptr, asked, 0);

	const uint64_t bytes = heap_size_plain(ptr);

	heap_count_alloc(thread, bytes, asked);
	if (unlikely(thread->ring.heap_alloc_bytes >= thread->sample_at))
		return heap_alloc_hit(thread, ptr, bytes, asked);
	return ptr;
}

static inline void heap_free_sampled(void *ptr)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread_records(thread) || samples_may_have(ptr))) {
		heap_free_slow(ptr);
		return;
	}
	thread->ring.heap_frees++;
	thread->ring.heap_free_bytes += heap_size_plain(ptr);
}

/* What a realloc needs to remember of the old block. */
struct heap_move {
	void *old;
	uint64_t old_bytes;
	uint64_t start_ticks; /* 0: the old block is no event */
	bool was_sample;
	bool is_skipped; /* of those that are not drawn */
};

void heap_move_begin(struct heap_move *move, void *old);
void heap_move_end(const struct heap_move *move, void *made, size_t size);

#endif
