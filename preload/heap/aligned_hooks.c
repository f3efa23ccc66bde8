/* SPDX-License-Identifier: MIT */
/*
 * aligned_hooks.c - the rest of the malloc family: aligned blocks, and the
 * frees that are told a size.
 *
 * Rarer and dearer calls than malloc(), so there is one way for all of them:
 * closed or not.
 */
#include "preload/heap/early.h"
#include "preload/heap/heap.h"
#include "preload/heap/watch.h"
#include "preload/process/life.h"
#include <errno.h>
#include <stdlib.h>

static bool is_ready(void)
{
	return likely(real_resolve() == REAL_READY);
}

/* What a hook must do around the real call. */
struct call {
	uint32_t open;
	bool counts;
	struct thread *was;
	uint64_t start_ticks;
};

static struct call call_begin(void)
{
	const uint32_t open = watch_alloc();
	struct call call = {.open = open, .counts = open & GATE_HEAP};

	if (call.counts && heap.timed)
		call.start_ticks = clock_ticks();
	if (call.counts)
		call.was = heap_enter_real();
	return call;
}

static void call_end(const struct call *call, void *ptr, size_t size)
{
	if (!call->counts) {
		watch_made(call->open, ptr, size);
		return;
	}
	heap_leave_real(call->was);
	heap_alloc_slow(ptr, size, call->start_ticks);
}

/* The short way: nothing is rare about this call.  libgomp makes one for each
 * region that has a team of one. */
static inline bool is_usual(uint32_t open)
{
	return likely((open & GATE_HEAP) && heap.fast);
}

static inline void *counted(uint32_t open, void *ptr, size_t size)
{
	return open & GATE_HEAP_ALL ? heap_alloc_all(ptr, size)
				    : heap_alloc(ptr, size);
}

EXPORT int posix_memalign(void **ptr, size_t alignment, size_t size)
{
	if (likely(heap_is_shut()))
		return real.posix_memalign(ptr, alignment, size);

	const struct call call = call_begin();

	if (unlikely(!is_ready())) {
		const int saved = errno;
		void *block = early_alloc(alignment, size);

		errno = saved;
		if (!block)
			return ENOMEM;
		*ptr = block;
		return 0;
	}

	const int rc = real.posix_memalign(ptr, alignment, size);

	call_end(&call, rc ? NULL : *ptr, size);
	return rc;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	const uint32_t open = gate_bits();

	if (likely(heap_is_shut()))
		return real.aligned_alloc(alignment, size);
	if (is_usual(open))
		return counted(open, real.aligned_alloc(alignment, size), size);

	const struct call call = call_begin();

	if (unlikely(!is_ready()))
		return early_alloc(alignment, size);

	void *ptr = real.aligned_alloc(alignment, size);

	call_end(&call, ptr, size);
	return ptr;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	const uint32_t open = gate_bits();

	if (likely(heap_is_shut()))
		return real.memalign(alignment, size);
	if (is_usual(open))
		return counted(open, real.memalign(alignment, size), size);

	const struct call call = call_begin();

	if (unlikely(!is_ready()))
		return early_alloc(alignment, size);

	void *ptr = real.memalign(alignment, size);

	call_end(&call, ptr, size);
	return ptr;
}

EXPORT void *valloc(size_t size)
{
	if (likely(heap_is_shut()))
		return real.valloc(size);

	const struct call call = call_begin();

	if (unlikely(!is_ready()))
		return early_alloc(PAGE_BYTES, size);

	void *ptr = real.valloc(size);

	call_end(&call, ptr, size);
	return ptr;
}

EXPORT void *pvalloc(size_t size)
{
	if (likely(heap_is_shut()))
		return real.pvalloc(size);

	const struct call call = call_begin();

	if (unlikely(!is_ready()))
		return early_alloc(PAGE_BYTES, align_up(size, PAGE_BYTES));

	void *ptr = real.pvalloc(size);

	call_end(&call, ptr, size);
	return ptr;
}

/* C23, glibc 2.43: no declaration before that. */
void free_sized(void *ptr, size_t size);
void free_aligned_sized(void *ptr, size_t alignment, size_t size);

/* Counts a free.  True if the block was an early one and is done with. */
static bool count_free(void *ptr)
{
	const uint32_t open = watch_decide();

	if (open & GATE_HEAP)
		heap_free_slow(ptr);
	else if (!early_owns(ptr))
		watch_gone(open, watch_size(open, ptr));
	return early_owns(ptr) || real_resolve() < REAL_BASE;
}

EXPORT void free_sized(void *ptr, size_t size)
{
	if (!ptr || count_free(ptr))
		return;
	if (real.free_sized)
		real.free_sized(ptr, size);
	else
		real.free(ptr);
}

EXPORT void free_aligned_sized(void *ptr, size_t alignment, size_t size)
{
	if (!ptr || count_free(ptr))
		return;
	if (real.free_aligned_sized)
		real.free_aligned_sized(ptr, alignment, size);
	else
		real.free(ptr);
}
