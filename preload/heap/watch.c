/* SPDX-License-Identifier: MIT */
/*
 * watch.c - the heap calls of a process before it is recorded.
 *
 * Threads count in lines of their own, found by a hash of their thread pointer:
 * one common counter would go back and forth between processors.  Two threads
 * that share a line may lose a count, which does no harm.
 */
#include "preload/heap/watch.h"

#include "preload/process/life.h"
#include <time.h>

#define WATCH_LINES   32u
#define WATCH_EACH    4096u
#define WATCH_SECONDS 2

static struct watch {
	_Alignas(CACHE_LINE) _Atomic uint64_t calls;
} lines[WATCH_LINES];

static bool begins_at_once;

void watch_start(bool at_once)
{
	begins_at_once = at_once;
}

static struct watch *my_line(void)
{
	const uint64_t self = (uint64_t)(uintptr_t)__builtin_thread_pointer();

	return &lines[(self * 0x9e3779b97f4a7c15u) >> 59];
}

_Static_assert(WATCH_LINES == 1u << (64 - 59), "the hash gives a line");

static COLD bool has_worked(void)
{
	struct timespec used;

	return !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) &&
	       used.tv_sec >= WATCH_SECONDS;
}

/* Why it is time to begin, NULL: it isn't. */
static const char *reason_now(void)
{
	struct watch *line = my_line();
	const uint64_t calls = load_relaxed(&line->calls) + 1;

	store_relaxed(&line->calls, calls);
	if (unlikely(begins_at_once))
		return "first allocation, as TRACEPROF_MALLOC asks";
	if (likely(calls % WATCH_EACH) || !has_worked())
		return NULL;
	return "two seconds of processor time, and allocations";
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
	return reason ? life_begin(reason) : life_settled();
}

uint64_t watch_count(void)
{
	uint64_t calls = 0;

	for (unsigned int i = 0; i < WATCH_LINES; i++)
		calls += load_relaxed(&lines[i].calls);
	return calls;
}
