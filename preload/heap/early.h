/* SPDX-License-Identifier: MIT */
/*
 * early.h - blocks for the time before the real malloc is known.
 *
 * The look-up of the real functions may itself allocate (a failing dlsym()
 * does, and older C libraries do at the first one).  Those few blocks come
 * from a static buffer, front to back, and are never given back.
 *
 * Each carries its size in the two words before it, in such a way that glibc's
 * malloc_usable_size() reads it too.
 */
#ifndef PRELOAD_EARLY_H
#define PRELOAD_EARLY_H

#include "collector/system/base.h"

#define EARLY_BYTES (16 * 1024)

extern char early_heap[EARLY_BYTES] __attribute__((visibility("hidden")));

/* A zeroed block, or NULL with ENOMEM.  `alignment` is a power of two.  Any
 * thread, signal handlers too. */
void *early_alloc(size_t alignment, size_t size);

/* True once anything was handed out. */
bool early_is_used(void);

/* The size that was asked for. */
size_t early_size(const void *ptr);

static inline bool early_owns(const void *ptr)
{
	return (uintptr_t)ptr - (uintptr_t)early_heap < EARLY_BYTES;
}

#endif
