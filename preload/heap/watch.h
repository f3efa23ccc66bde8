/* SPDX-License-Identifier: MIT */
/*
 * watch.h - counts allocations until the heap alone makes a process
 * interesting: by the first one where the user asked for the heap, else when
 * the process has used two seconds of processor time.
 */
#ifndef PRELOAD_WATCH_H
#define PRELOAD_WATCH_H

#include "collector/system/base.h"

void watch_start(bool at_once);

/* One allocation under GATE_HEAP_WATCH: may begin the recording.  Keeps
 * errno. */
void watch_call(void);

/* Calls seen so far. */
uint64_t watch_count(void);

#endif
