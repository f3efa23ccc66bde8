/* SPDX-License-Identifier: MIT */
/*
 * samples.h - the sampled blocks that are live, so that a free finds its own.
 *
 * A table of addresses, and before it a filter that fits into a first cache:
 * most frees look at one byte of it and know that theirs is none.  Filled and
 * emptied by compare-and-swap; any thread; a block that finds no place is no
 * sample, and counted.
 */
#ifndef PRELOAD_SAMPLES_H
#define PRELOAD_SAMPLES_H

#include "collector/system/base.h"

#define SAMPLE_FILTER (16u * 1024)

extern _Atomic uint8_t sample_filter[SAMPLE_FILTER]
	__attribute__((visibility("hidden")));

static inline uint64_t samples_hash(const void *ptr)
{
	return ((uint64_t)(uintptr_t)ptr >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

/* False: this block is none for sure. */
static inline bool samples_may_have(const void *ptr)
{
	return load_relaxed(&sample_filter[samples_hash(ptr) >> 50]);
}

_Static_assert(SAMPLE_FILTER == 1u << (64 - 50), "the hash gives a byte");

/* Empties it; the heap's recording begins.  False: no memory for it. */
bool samples_start(void);

/* False: there is no place. */
bool samples_add(const void *ptr);

/* True if it was there; then it no longer is. */
bool samples_take(const void *ptr);

#endif
