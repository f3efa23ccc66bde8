/* SPDX-License-Identifier: MIT */
/*
 * caching_allocator.h - PyTorch's allocator of a device's memory.
 */
#ifndef PRELOAD_CACHING_ALLOCATOR_H
#define PRELOAD_CACHING_ALLOCATOR_H

#include "preload/process/hook_hide.h"

/* There is one in the process. */
bool caching_allocator_is_loaded(void);

/* Its hook; see cuda_calls_ranges(). */
void caching_allocator_range(struct hook_range *range);

#endif
