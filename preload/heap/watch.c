/* SPDX-License-Identifier: MIT */
/*
 * watch.c - the calls of a process that isn't interesting yet.
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

void watch_call(void)
{
	const char *reason;

	/* Not so where only early blocks keep free() on its longer way. */
	if (!life_is_watching())
		return;
	reason = reason_now();
	if (unlikely(reason))
		life_begin(reason);
}

uint64_t watch_count(void)
{
	uint64_t calls = 0;

	for (unsigned int i = 0; i < WATCH_LINES; i++)
		calls += load_relaxed(&lines[i].calls);
	return calls;
}
