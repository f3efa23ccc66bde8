/* SPDX-License-Identifier: MIT */
/*
 * malloc_hooks.c - stands in front of the malloc family.
 *
 * Each hook looks at the gate, calls the real function, has the call counted or
 * recorded (preload/heap/heap.h), and returns what the real function returned,
 * errno included.  A free is recorded before it happens, an allocation after:
 * once freed, an address may go to another thread, whose malloc must not appear
 * to come before our free.
 *
 *	gate closed	the real function, by a jump
 *	*_counted()	counts, or records: inline, mostly without a frame
 *	*_slow()	the rare cases: durations, foreign sizes, a new chunk
 *	*_watched()	no heap bit, as a rule since what may begin a recording
 *			is being waited for (preload/heap/watch.h)
 *	*_undecided()	all else that has no heap bit: undecided, early blocks
 *
 * reallocarray(), strdup() and all others of libc's own come to us by libc's
 * calls of these; malloc_usable_size() needs no hook.
 */
#include "preload/heap/early.h"
#include "preload/heap/heap.h"
#include "preload/heap/watch.h"
#include "preload/process/life.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

/* A decided gate means that all is resolved; before that it depends. */
static bool is_real(uint32_t open)
{
	return open != GATE_UNDECIDED || real_resolve() >= REAL_BASE;
}

static inline uint64_t start_ticks(void)
{
	return unlikely(heap.timed) ? clock_ticks() : 0;
}

static NOINLINE void *malloc_slow(size_t size)
{
	if (likely(heap.stacked_fast))
		return heap_alloc_stacked(real.malloc(size), size);

	const uint64_t start = start_ticks();
	struct thread *was = heap_enter_real();
	void *ptr = real.malloc(size);

	heap_leave_real(was);
	return heap_alloc_slow(ptr, size, start);
}

static NOINLINE void *malloc_undecided(size_t size)
{
	const uint32_t open = watch_alloc();

	if (open & GATE_HEAP)
		return malloc_slow(size);
	if (is_real(open))
		return watch_made(open, real.malloc(size), size);
	return early_alloc(0, size);
}

static NOINLINE void *malloc_watched(size_t size)
{
	struct watch_line *line = watch_short(gate_bits());
	void *ptr;

	if (unlikely(!line || watch_is_due(line)))
		return malloc_undecided(size);
	ptr = real.malloc(size);
	if (likely(ptr))
		watch_add_made(line, heap_size_plain(ptr), size);
	return ptr;
}

static NOINLINE void *malloc_sampled(size_t size)
{
	return heap_alloc_sampled(real.malloc(size), size);
}

static NOINLINE void *malloc_counted(size_t size)
{
	const uint32_t open = gate_bits();

	if (unlikely(!(open & GATE_HEAP)))
		return malloc_watched(size);
	if (unlikely(!heap.fast))
		return heap.sampled_fast ? malloc_sampled(size)
					 : malloc_slow(size);
	if (open & GATE_HEAP_ALL)
		return heap_alloc_all(real.malloc(size), size);
	return heap_alloc(real.malloc(size), size);
}

EXPORT void *malloc(size_t size)
{
	if (likely(heap_is_shut()))
		return real.malloc(size);
	return malloc_counted(size);
}

static NOINLINE void free_slow(void *ptr)
{
	struct thread *was;

	if (likely(heap.stacked_fast && (gate_bits() & GATE_HEAP_ALL) &&
		   !early_owns(ptr))) {
		heap_free_all(ptr);
		real.free(ptr);
		return;
	}
	heap_free_slow(ptr);
	if (unlikely(early_owns(ptr)))
		return;
	was = heap_enter_real();
	real.free(ptr);
	heap_leave_real(was);
}

static NOINLINE void free_undecided(void *ptr)
{
	uint32_t open;

	if (!ptr || early_owns(ptr))
		return;
	open = watch_decide();
	if (open & GATE_HEAP) {
		free_slow(ptr);
	} else if (is_real(open)) {
		watch_gone(open, watch_size(open, ptr));
		real.free(ptr);
	}
}

static NOINLINE void free_watched(void *ptr)
{
	struct watch_line *line = watch_short(gate_bits());

	if (unlikely(!line || !ptr || early_owns(ptr))) {
		free_undecided(ptr);
		return;
	}
	watch_add_gone(line, heap_size_plain(ptr));
	real.free(ptr);
}

static NOINLINE void free_sampled(void *ptr)
{
	heap_free_sampled(ptr);
	real.free(ptr);
}

static NOINLINE void free_counted(void *ptr)
{
	const uint32_t open = gate_bits();

	if (unlikely(!(open & GATE_HEAP))) {
		free_watched(ptr);
		return;
	}
	if (unlikely(!ptr))
		return;
	if (unlikely(!heap.fast)) {
		if (heap.sampled_fast)
			free_sampled(ptr);
		else
			free_slow(ptr);
		return;
	}
	if (open & GATE_HEAP_ALL)
		heap_free_all(ptr);
	else
		heap_free(ptr);
	real.free(ptr);
}

EXPORT void free(void *ptr)
{
	if (likely(heap_is_shut()))
		real.free(ptr);
	else
		free_counted(ptr);
}

static NOINLINE void *calloc_slow(size_t count, size_t size)
{
	if (likely(heap.stacked_fast))
		return heap_alloc_stacked(real.calloc(count, size),
					  count * size);

	const uint64_t start = start_ticks();
	struct thread *was = heap_enter_real();
	void *ptr = real.calloc(count, size);

	heap_leave_real(was);
	return heap_alloc_slow(ptr, count * size, start);
}

static NOINLINE void *calloc_undecided(size_t count, size_t size)
{
	const uint32_t open = watch_alloc();
	size_t bytes;

	if (open & GATE_HEAP)
		return calloc_slow(count, size);
	if (is_real(open))
		return watch_made(open, real.calloc(count, size), count * size);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return early_alloc(0, bytes);
}

static NOINLINE void *calloc_watched(size_t count, size_t size)
{
	struct watch_line *line = watch_short(gate_bits());
	void *ptr;

	if (unlikely(!line || watch_is_due(line)))
		return calloc_undecided(count, size);
	ptr = real.calloc(count, size);
	if (likely(ptr))
		watch_add_made(line, heap_size_plain(ptr), count * size);
	return ptr;
}

static NOINLINE void *calloc_sampled(size_t count, size_t size)
{
	return heap_alloc_sampled(real.calloc(count, size), count * size);
}

static NOINLINE void *calloc_counted(size_t count, size_t size)
{
	const uint32_t open = gate_bits();

	if (unlikely(!(open & GATE_HEAP)))
		return calloc_watched(count, size);
	if (unlikely(!heap.fast))
		return heap.sampled_fast ? calloc_sampled(count, size)
					 : calloc_slow(count, size);
	if (open & GATE_HEAP_ALL)
		return heap_alloc_all(real.calloc(count, size), count * size);
	return heap_alloc(real.calloc(count, size), count * size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	if (likely(heap_is_shut()))
		return real.calloc(count, size);
	return calloc_counted(count, size);
}

/* An early block can't grow where it is, and is never given back. */
static void *realloc_early(void *ptr, size_t size)
{
	const size_t old = early_size(ptr);
	void *made = real_resolve() >= REAL_BASE ? real.malloc(size)
						 : early_alloc(0, size);

	if (made)
		memcpy(made, ptr, old < size ? old : size);
	return made;
}

static NOINLINE void *realloc_slow(void *ptr, size_t size)
{
	struct heap_move move;
	struct thread *was;
	void *made;

	heap_move_begin(&move, ptr);
	was = heap_enter_real();
	if (unlikely(ptr && early_owns(ptr)))
		made = realloc_early(ptr, size);
	else
		made = real.realloc(ptr, size);
	heap_leave_real(was);
	heap_move_end(&move, made, size);
	return made;
}

static NOINLINE void *realloc_undecided(void *ptr, size_t size)
{
	const uint32_t open = watch_alloc();
	uint64_t bytes;
	void *made;

	if (open & GATE_HEAP)
		return realloc_slow(ptr, size);
	if (ptr && early_owns(ptr))
		return realloc_early(ptr, size);
	if (!is_real(open))
		return early_alloc(0, size);
	bytes = watch_size(open, ptr);
	made = real.realloc(ptr, size);
	if (ptr && (made || !size))
		watch_gone(open, bytes);
	return watch_made(open, made, size);
}

static NOINLINE void *realloc_watched(void *ptr, size_t size)
{
	struct watch_line *line = watch_short(gate_bits());
	uint64_t bytes;
	void *made;

	if (unlikely(!line || watch_is_due(line) || early_owns(ptr)))
		return realloc_undecided(ptr, size);
	bytes = ptr ? heap_size_plain(ptr) : 0;
	made = real.realloc(ptr, size);
	if (ptr && (made || !size))
		watch_add_gone(line, bytes);
	if (likely(made))
		watch_add_made(line, heap_size_plain(made), size);
	return made;
}

EXPORT void *realloc(void *ptr, size_t size)
{
	if (likely(heap_is_shut()))
		return real.realloc(ptr, size);
	if (unlikely(!(gate_bits() & GATE_HEAP)))
		return realloc_watched(ptr, size);
	return realloc_slow(ptr, size);
}
