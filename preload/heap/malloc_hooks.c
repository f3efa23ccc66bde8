/* SPDX-License-Identifier: MIT */
/*
 * malloc_hooks.c - stands in front of the malloc family.
 *
 * Each hook looks at the gate, calls the real function, has the call counted or
 * recorded (preload/heap/heap.h), and returns what the real function returned,
 * errno included.  A death is recorded before it happens, a birth after: once
 * freed, an address may go to another thread, whose malloc must not appear to
 * come before our free.
 *
 *	gate closed	the real function, by a jump
 *	*_open()	counts, or records: inline, mostly without a frame
 *	*_full()	the rare cases: durations, foreign sizes, a new chunk
 *	*_cold()	no heap bit: undecided, watching, or early blocks about
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
#define ALWAYS	 __attribute__((always_inline))

/* The gate as a cold path needs it: decided if that is possible at all. */
static uint32_t decided(void)
{
	const uint32_t open = gate_bits();

	return open == GATE_UNDECIDED ? life_decide() : open;
}

/* The same before an allocation, which may make the process interesting. */
static uint32_t decided_alloc(void)
{
	const uint32_t open = decided();

	if ((open & (GATE_HEAP_WATCH | GATE_HEAP)) != GATE_HEAP_WATCH)
		return open;
	watch_call();
	return gate_bits();
}

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
	const uint64_t start = start_ticks();
	struct thread *was = heap_enter_real();
	void *ptr = real.malloc(size);

	heap_leave_real(was);
	return heap_born_full(ptr, size, start);
}

static NOINLINE void *malloc_undecided(size_t size)
{
	const uint32_t open = decided_alloc();

	if (open & GATE_HEAP)
		return malloc_slow(size);
	return is_real(open) ? real.malloc(size) : early_alloc(0, size);
}

/* By the address of the pointer: it is read where the call is made, and no
 * register keeps it until then. */
static inline ALWAYS void *malloc_by(void *(*const *allocate)(size_t),
				     uint32_t open, size_t size)
{
	if (unlikely(!(open & GATE_HEAP)))
		return malloc_undecided(size);
	if (unlikely(!heap.fast))
		return malloc_slow(size);
	if (open & GATE_HEAP_ALL)
		return heap_born_all((*allocate)(size));
	return heap_alloc((*allocate)(size));
}

static NOINLINE void *malloc_counted(size_t size)
{
	return malloc_by(&real.malloc, gate_bits(), size);
}

EXPORT void *malloc(size_t size)
{
	if (likely(heap_is_shut()))
		return real.malloc(size);
	return malloc_counted(size);
}

static NOINLINE void free_full(void *ptr)
{
	struct thread *was;

	heap_died_full(ptr);
	if (unlikely(early_owns(ptr)))
		return;
	was = heap_enter_real();
	real.free(ptr);
	heap_leave_real(was);
}

static NOINLINE void free_cold(void *ptr)
{
	uint32_t open;

	if (!ptr || early_owns(ptr))
		return;
	open = decided();
	if (open & GATE_HEAP)
		free_full(ptr);
	else if (is_real(open))
		real.free(ptr);
}

static inline ALWAYS void free_by(void (*const *release)(void *), uint32_t open,
				  void *ptr)
{
	if (unlikely(!(open & GATE_HEAP))) {
		free_cold(ptr);
		return;
	}
	if (unlikely(!ptr))
		return;
	if (unlikely(!heap.fast)) {
		free_full(ptr);
		return;
	}
	if (open & GATE_HEAP_ALL)
		heap_died_all(ptr);
	else
		heap_free(ptr);
	(*release)(ptr);
}

static NOINLINE void free_open(void *ptr)
{
	free_by(&real.free, gate_bits(), ptr);
}

EXPORT void free(void *ptr)
{
	if (likely(heap_is_shut()))
		real.free(ptr);
	else
		free_open(ptr);
}

static NOINLINE void *calloc_full(size_t count, size_t size)
{
	const uint64_t start = start_ticks();
	struct thread *was = heap_enter_real();
	void *ptr = real.calloc(count, size);

	heap_leave_real(was);
	return heap_born_full(ptr, count * size, start);
}

static NOINLINE void *calloc_cold(size_t count, size_t size)
{
	const uint32_t open = decided_alloc();
	size_t bytes;

	if (open & GATE_HEAP)
		return calloc_full(count, size);
	if (is_real(open))
		return real.calloc(count, size);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return early_alloc(0, bytes);
}

static NOINLINE void *calloc_open(size_t count, size_t size)
{
	const uint32_t open = gate_bits();

	if (unlikely(!(open & GATE_HEAP)))
		return calloc_cold(count, size);
	if (unlikely(!heap.fast))
		return calloc_full(count, size);
	if (open & GATE_HEAP_ALL)
		return heap_born_all(real.calloc(count, size));
	return heap_alloc(real.calloc(count, size));
}

EXPORT void *calloc(size_t count, size_t size)
{
	if (likely(heap_is_shut()))
		return real.calloc(count, size);
	return calloc_open(count, size);
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

static NOINLINE void *realloc_full(void *ptr, size_t size)
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

static NOINLINE void *realloc_cold(void *ptr, size_t size)
{
	const uint32_t open = decided_alloc();

	if (open & GATE_HEAP)
		return realloc_full(ptr, size);
	if (ptr && early_owns(ptr))
		return realloc_early(ptr, size);
	return is_real(open) ? real.realloc(ptr, size) : early_alloc(0, size);
}

EXPORT void *realloc(void *ptr, size_t size)
{
	if (likely(heap_is_shut()))
		return real.realloc(ptr, size);
	if (unlikely(!(gate_bits() & GATE_HEAP)))
		return realloc_cold(ptr, size);
	return realloc_full(ptr, size);
}

/* --- rehearsal ------------------------------------------------------------ */

static struct heap_rehearsal rehearsal;

/* As if calls were counted and not recorded. */
static inline uint32_t rehearsed_bits(void)
{
	return (gate_bits() | GATE_HEAP) & ~(uint32_t)GATE_HEAP_ALL;
}

static NOINLINE void *malloc_rehearsed(size_t size)
{
	return malloc_by(&rehearsal.allocate, rehearsed_bits(), size);
}

static NOINLINE void free_rehearsed(void *ptr)
{
	free_by(&rehearsal.release, rehearsed_bits(), ptr);
}

void heap_rehearse(const struct heap_rehearsal *with)
{
	rehearsal = *with;
}

void *heap_rehearse_malloc(size_t size)
{
	if (likely(heap_is_shut()))
		return rehearsal.allocate(size);
	return malloc_rehearsed(size);
}

void heap_rehearse_free(void *ptr)
{
	if (likely(heap_is_shut()))
		rehearsal.release(ptr);
	else
		free_rehearsed(ptr);
}
