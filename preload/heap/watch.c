/* SPDX-License-Identifier: MIT */
/*
 * watch.c - the heap calls of a process before it is recorded.
 *
 * Threads count in lines of their own, found by a hash of their thread pointer:
 * one common counter would go back and forth between processors.
 */
#include "preload/heap/watch.h"

#include "preload/heap/heap.h"
#include "preload/process/families.h"
#include "preload/process/life.h"
#include <string.h>
#include <time.h>

#define WATCH_LINES   32u
#define WATCH_EACH    4096u
#define WATCH_SECONDS 2

static struct watch {
	_Alignas(CACHE_LINE) _Atomic uint64_t allocs;
	_Atomic uint64_t frees, alloc_bytes, free_bytes, asked_bytes;
} lines[WATCH_LINES];

static bool begins_at_once;

void watch_start(bool at_once, bool is_forked)
{
	begins_at_once = at_once;
	/* What the parent did isn't this process's. */
	if (is_forked)
		memset(lines, 0, sizeof(lines));
}

static struct watch *my_line(void)
{
	const uint64_t self = (uint64_t)(uintptr_t)__builtin_thread_pointer();

	return &lines[(self * 0x9e3779b97f4a7c15u) >> 59];
}

_Static_assert(WATCH_LINES == 1u << (64 - 59), "the hash gives a line");

static COLD const char *reason_by_work(void)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
		return NULL;
	if (used.tv_sec >= WATCH_SECONDS)
		return "two seconds of processor time, and allocations";
	return families_reason((uint64_t)used.tv_sec * 1000000000u +
			       (uint64_t)used.tv_nsec);
}

/* Why it is time to begin, NULL: it isn't. */
static const char *reason_now(void)
{
	const uint64_t calls = load_relaxed(&my_line()->allocs) + 1;

	if (unlikely(begins_at_once))
		return "first allocation, as TRACEPROF_MALLOC asks";
	return likely(calls % WATCH_EACH) ? NULL : reason_by_work();
}

uint32_t watch_decide(void)
{
	return gate_bits() == GATE_UNDECIDED ? life_decide() : life_settled();
}

uint32_t watch_alloc(void)
{
	const uint32_t open = watch_decide();
	const char *reason;

	if ((open & (GATE_HEAP_WATCH | GATE_HEAP)) != GATE_HEAP_WATCH)
		return open;
	/* Where early blocks alone keep free() on its longer way: no. */
	reason = life_is_watching() ? reason_now() : NULL;
	return reason ? life_begin_in_allocation(reason) : life_settled();
}

/* What we allocate ourselves isn't the program's. */
static inline bool is_counted(uint32_t open)
{
	return (open & GATE_HEAP_WATCH) && thread_self != THREAD_BUSY;
}

void *watch_made(uint32_t open, void *ptr, uint64_t asked)
{
	if (likely(ptr && is_counted(open))) {
		struct watch *line = my_line();

		add_relaxed(&line->allocs, 1);
		add_relaxed(&line->alloc_bytes, heap_size_asked(ptr));
		add_relaxed(&line->asked_bytes, asked);
	}
	return ptr;
}

uint64_t watch_size(uint32_t open, void *ptr)
{
	return ptr && is_counted(open) ? heap_size_asked(ptr) : 0;
}

void watch_gone(uint32_t open, uint64_t bytes)
{
	if (likely(is_counted(open))) {
		struct watch *line = my_line();

		add_relaxed(&line->frees, 1);
		add_relaxed(&line->free_bytes, bytes);
	}
}

void watch_sum(struct heap_before *before)
{
	struct heap_before sum = {0};

	for (unsigned int i = 0; i < WATCH_LINES; i++) {
		sum.allocs += load_relaxed(&lines[i].allocs);
		sum.frees += load_relaxed(&lines[i].frees);
		sum.alloc_bytes += load_relaxed(&lines[i].alloc_bytes);
		sum.free_bytes += load_relaxed(&lines[i].free_bytes);
		sum.asked_bytes += load_relaxed(&lines[i].asked_bytes);
	}
	*before = sum;
}
