/* SPDX-License-Identifier: MIT */
/*
 * heap.h - what one call of the malloc family leaves behind.
 *
 * Each call updates the counters of its thread's record; blocks of at least
 * `large_bytes`, or every one with TRACEPROF_MALLOC=all, become events.  Sizes
 * are what the block holds, on both sides: glibc's own header is read in
 * place, another allocator is asked.  Where neither can be had, large blocks
 * are remembered in a table (preload/blocks.h), only they count in bytes, and
 * a free that isn't found there says EVENT_NO_SIZE.
 *
 * While a slot is being filled the thread is THREAD_BUSY: what a signal handler
 * allocates meanwhile is forwarded and not counted.
 */
#ifndef PRELOAD_HEAP_H
#define PRELOAD_HEAP_H

#include "collector/gate.h"
#include "collector/thread.h"
#include "preload/real.h"

/* Set by heap_start(), before the gate opens; then constant. */
struct heap_settings {
	uint64_t large_bytes; /* UINT64_MAX: none is large */
	bool plain;	      /* header readable, and no early block around */
	bool timed;	      /* mode all, the call's duration too */
};

extern struct heap_settings heap;

/* Reads the session's options.  The gate bits that are wanted: *base while
 * the process lives, *record while a window is open. */
void heap_start(struct session *session, uint32_t *base, uint32_t *record);

/* A record for a thread that has none; NULL if it may not or can't. */
struct thread *heap_enter(void);

/* The size of a block where `plain` doesn't hold.  False: not known. */
bool heap_size_asked(void *ptr, uint64_t *bytes);

/* A large block was born, or is about to die. */
void heap_born_large(struct thread *thread, void *ptr, uint64_t bytes);
void heap_died_large(struct thread *thread, void *ptr, uint64_t bytes);

/* Every case: modes, sizes and clocks.  `size` is what was asked for, `start`
 * the time before the call or 0. */
void heap_born_full(void *ptr, size_t size, uint64_t start_ticks);
void heap_died_full(void *ptr);

/* glibc's own size, from the word before the block: the chunk's, less one word
 * or, for a chunk of its own mapping (bit 1), two. */
static inline uint64_t heap_size_plain(const void *ptr)
{
	const uint64_t word = ((const uint64_t *)ptr)[-1];

	return (word & ~(uint64_t)7) - 8 - ((word & 2) << 2);
}

/* True where the short way won't do. */
static inline bool heap_is_full(uint32_t open)
{
	return (open & GATE_HEAP_ALL) || !heap.plain;
}

static inline void heap_born(void *ptr)
{
	struct thread *thread = thread_self;

	if (unlikely(!ptr))
		return;
	if (unlikely(!thread_records(thread))) {
		thread = heap_enter();
		if (!thread)
			return;
	}
	const uint64_t bytes = heap_size_plain(ptr);

	thread->ring.heap_allocs++;
	thread->ring.heap_alloc_bytes += bytes;
	if (unlikely(bytes >= heap.large_bytes))
		heap_born_large(thread, ptr, bytes);
}

static inline void heap_died(void *ptr)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread_records(thread))) {
		thread = heap_enter();
		if (!thread)
			return;
	}
	const uint64_t bytes = heap_size_plain(ptr);

	thread->ring.heap_frees++;
	thread->ring.heap_free_bytes += bytes;
	if (unlikely(bytes >= heap.large_bytes))
		heap_died_large(thread, ptr, bytes);
}

/* What a realloc needs to remember of the old block. */
struct heap_move {
	void *old;
	uint64_t old_bytes;
	bool old_known;
	uint64_t start_ticks;
};

void heap_move_begin(struct heap_move *move, void *old);
void heap_move_end(const struct heap_move *move, void *made, size_t size);

#endif
