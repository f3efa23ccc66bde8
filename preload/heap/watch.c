/* SPDX-License-Identifier: MIT */
/*
 * watch.c - the heap calls of a process before it is recorded.
 *
 * Threads count in lines of their own: one common counter would go back and
 * forth between processors.  Those that come when all lines are taken share
 * others, found by a hash of their thread pointer.
 */
#include "preload/heap/watch.h"

#include "preload/heap/heap.h"
#include "preload/process/families.h"
#include "preload/process/life.h"
#include "preload/process/thread_watch.h"
#include <string.h>
#include <time.h>

#define OWN_LINES     64u
#define SHARED_LINES  32u
#define WATCH_SECONDS 2

static struct watch_line own[OWN_LINES];
static _Atomic uint32_t own_taken;

static struct shared_line {
	_Alignas(CACHE_LINE) _Atomic uint64_t allocs;
	_Atomic uint64_t frees, alloc_bytes, free_bytes, asked_bytes;
} shared[SHARED_LINES];

_Thread_local struct watch_line *watch_own;
_Atomic bool watch_is_short;
static bool begins_at_once;

void watch_start(bool at_once, bool is_forked)
{
	begins_at_once = at_once;
	/* What the parent did isn't this process's. */
	if (is_forked) {
		memset(own, 0, sizeof(own));
		memset(shared, 0, sizeof(shared));
	}
	store_relaxed(&watch_is_short,
		      !at_once && real_sizer() == REAL_SIZE_HEADER);
}

void watch_stop(void)
{
	store_relaxed(&watch_is_short, false);
}

/* NULL: it has to share one. */
static struct watch_line *own_line(void)
{
	uint32_t taken = load_relaxed(&own_taken);

	while (!watch_own && taken < OWN_LINES) {
		if (atomic_compare_exchange_weak_explicit(
			    &own_taken, &taken, taken + 1, memory_order_relaxed,
			    memory_order_relaxed))
			watch_own = &own[taken];
	}
	return watch_own;
}

static struct shared_line *shared_line(void)
{
	const uint64_t self = (uint64_t)(uintptr_t)__builtin_thread_pointer();

	return &shared[(self * 0x9e3779b97f4a7c15u) >> 59];
}

_Static_assert(SHARED_LINES == 1u << (64 - 59), "the hash gives a line");

static COLD const char *reason_by_work(void)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
		return NULL;
	if (used.tv_sec >= WATCH_SECONDS)
		return WATCHED_FOR_HEAP;
	return families_reason((uint64_t)used.tv_sec * 1000000000u +
			       (uint64_t)used.tv_nsec);
}

/* Why it is time to begin, NULL: it isn't. */
static const char *reason_now(void)
{
	const struct watch_line *line = own_line();
	uint64_t calls;

	if (unlikely(begins_at_once))
		return "first allocation, as TRACEPROF_MALLOC asks";
	calls = line ? line->allocs : load_relaxed(&shared_line()->allocs);
	return likely((calls + 1) % WATCH_EACH) ? NULL : reason_by_work();
}

uint32_t watch_decide(void)
{
	return gate_bits() == GATE_UNDECIDED ? life_decide() : life_settled();
}

static COLD uint32_t begin(const char *reason)
{
	const uint32_t bits = life_begin_in_allocation(reason);

	thread_watch_begun();
	return bits;
}

uint32_t watch_alloc(void)
{
	const uint32_t open = watch_decide();
	const char *reason;

	if ((open & (GATE_HEAP_WATCH | GATE_HEAP)) != GATE_HEAP_WATCH)
		return open;
	/* Where early blocks alone keep free() on its longer way: no. */
	reason = life_is_watching() ? reason_now() : NULL;
	return reason ? begin(reason) : life_settled();
}

/* What we allocate ourselves isn't the program's. */
static inline bool is_counted(uint32_t open)
{
	return (open & GATE_HEAP_WATCH) && thread_self != THREAD_BUSY;
}

static void add_made(uint64_t bytes, uint64_t asked)
{
	struct watch_line *line = own_line();
	struct shared_line *other;

	if (likely(line)) {
		watch_add_made(line, bytes, asked);
		return;
	}
	other = shared_line();
	add_relaxed(&other->allocs, 1);
	add_relaxed(&other->alloc_bytes, bytes);
	add_relaxed(&other->asked_bytes, asked);
}

void *watch_made(uint32_t open, void *ptr, uint64_t asked)
{
	if (likely(ptr && is_counted(open)))
		add_made(heap_size_asked(ptr), asked);
	return ptr;
}

uint64_t watch_size(uint32_t open, void *ptr)
{
	return ptr && is_counted(open) ? heap_size_asked(ptr) : 0;
}

void watch_gone(uint32_t open, uint64_t bytes)
{
	struct watch_line *line;

	if (unlikely(!is_counted(open)))
		return;
	line = own_line();
	if (likely(line)) {
		watch_add_gone(line, bytes);
		return;
	}
	add_relaxed(&shared_line()->frees, 1);
	add_relaxed(&shared_line()->free_bytes, bytes);
}

/* Another thread's words, which it may be changing. */
static uint64_t seen(const uint64_t *word)
{
	return *(const volatile uint64_t *)word;
}

void watch_sum(struct heap_before *before)
{
	struct heap_before sum = {0};

	for (unsigned int i = 0; i < OWN_LINES; i++) {
		sum.allocs += seen(&own[i].allocs);
		sum.frees += seen(&own[i].frees);
		sum.alloc_bytes += seen(&own[i].alloc_bytes);
		sum.free_bytes += seen(&own[i].free_bytes);
		sum.asked_bytes += seen(&own[i].asked_bytes);
	}
	for (unsigned int i = 0; i < SHARED_LINES; i++) {
		sum.allocs += load_relaxed(&shared[i].allocs);
		sum.frees += load_relaxed(&shared[i].frees);
		sum.alloc_bytes += load_relaxed(&shared[i].alloc_bytes);
		sum.free_bytes += load_relaxed(&shared[i].free_bytes);
		sum.asked_bytes += load_relaxed(&shared[i].asked_bytes);
	}
	*before = sum;
}
