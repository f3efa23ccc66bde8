/* SPDX-License-Identifier: MIT */
/*
 * watch.h - counts allocations until the heap alone begins a recording: by the
 * first one where the user asked for the heap, else when the process has used
 * two seconds of processor time.
 */
#ifndef PRELOAD_WATCH_H
#define PRELOAD_WATCH_H

#include "collector/session/session.h"

void watch_start(bool at_once, bool is_forked);

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
