/* SPDX-License-Identifier: MIT */
/*
 * samples.h - the sampled blocks that are live, so that a free finds its own.
 *
 * A table of addresses, and before it a filter: most frees look at one byte of
 * it and know that theirs is none.  A byte stands for 512 bytes of addresses,
 * and for those 32 MiB apart, so blocks that lie side by side look at one line:
 * spread by a hash, frees would drive the program's own lines out of the first
 * cache.  Filled and emptied by compare-and-swap; any thread; a block that
 * finds no place is no sample, and counted.
 */
#ifndef PRELOAD_SAMPLES_H
#define PRELOAD_SAMPLES_H

#include "collector/system/base.h"

#define SAMPLE_FILTER (64u * 1024)

extern _Atomic uint8_t sample_filter[SAMPLE_FILTER]
	__attribute__((visibility("hidden")));

static inline _Atomic uint8_t *samples_byte(const void *ptr)
{
	return &sample_filter[((uintptr_t)ptr >> 9) % SAMPLE_FILTER];
}

/* False: this block is none for sure. */
static inline bool samples_may_have(const void *ptr)
{
	return load_relaxed(samples_byte(ptr));
}

/* Empties it; the heap's recording begins.  False: no memory for it. */
bool samples_start(void);

/* False: there is no place. */
bool samples_add(const void *ptr);

/* True if it was there; then it no longer is. */
bool samples_take(const void *ptr);

#endif
