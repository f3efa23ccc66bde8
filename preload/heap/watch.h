/* SPDX-License-Identifier: MIT */
/*
 * watch.h - counts allocations until the heap alone begins a recording: by the
 * first one where the user asked for the heap, else when the process has used
 * two seconds of processor time.
 */
#ifndef PRELOAD_WATCH_H
#define PRELOAD_WATCH_H

#include "collector/system/base.h"

void watch_start(bool at_once);

/* The gate's bits as a cold path needs them: decided if that is possible at
 * all, and not while a recording is just being begun. */
uint32_t watch_decide(void);

/* The same before an allocation, which counts and may begin the recording. */
uint32_t watch_alloc(void);

/* Calls seen so far. */
uint64_t watch_count(void);

#endif
