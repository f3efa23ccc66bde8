/* SPDX-License-Identifier: MIT */
/*
 * watch.h - counts allocations until the heap alone begins a recording: by the
 * first one where the user asked for the heap, else when the process has used
 * two seconds of processor time.
 */
#ifndef PRELOAD_WATCH_H
#define PRELOAD_WATCH_H

#include "collector/session/gate.h"
#include "collector/session/session.h"
#include "collector/session/thread_self.h"

/* Calls of a thread between two looks at what the process has used. */
#define WATCH_EACH 4096u

/* The calling thread's own; the owner alone adds, each in one instruction, so
 * that what a signal handler adds isn't lost; anyone reads. */
struct watch_line {
	_Alignas(CACHE_LINE) uint64_t allocs;
	uint64_t frees, alloc_bytes, free_bytes, asked_bytes;
};

/* NULL: none yet, or there are more threads than lines. */
extern _Thread_local struct watch_line *watch_own;
/* Calls may be counted the short way: glibc's header tells sizes, and nothing
 * begins a recording but the time. */
extern _Atomic bool watch_is_short __attribute__((visibility("hidden")));

void watch_start(bool at_once, bool is_forked);

/* A recording begins: who comes from now on waits for it. */
void watch_stop(void);

/* Where the short way counts, NULL: the long one is to be gone. */
static inline struct watch_line *watch_short(uint32_t open)
{
	if (unlikely(!(open & GATE_HEAP_WATCH) || thread_self ||
		     !load_relaxed(&watch_is_short)))
		return NULL;
	return watch_own;
}

/* It is time to look whether a recording shall begin: the long way does. */
static inline bool watch_is_due(const struct watch_line *line)
{
	return !((line->allocs + 1) % WATCH_EACH);
}

static inline void watch_add_made(struct watch_line *line, uint64_t bytes,
				  uint64_t asked)
{
	line->allocs++;
	line->alloc_bytes += bytes;
	line->asked_bytes += asked;
}

static inline void watch_add_gone(struct watch_line *line, uint64_t bytes)
{
	line->frees++;
	line->free_bytes += bytes;
}

/* The gate's bits as a cold path needs them: decided if that is possible at
 * all, and not while a recording is just being begun. */
uint32_t watch_decide(void);

/* The same before an allocation, which may begin the recording. */
uint32_t watch_alloc(void);

/* What is counted where these bits say that it isn't recorded: a new block for
 * so many bytes, which is returned, and one that goes, its size asked while it
 * is there. */
void *watch_made(uint32_t open, void *ptr, uint64_t asked);
uint64_t watch_size(uint32_t open, void *ptr);
void watch_gone(uint32_t open, uint64_t bytes);

/* All that was counted. */
void watch_sum(struct heap_before *before);

#endif
