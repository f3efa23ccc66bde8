/* SPDX-License-Identifier: MIT */
/*
 * caching_allocator.h - PyTorch's allocator of a device's memory.
 */
#ifndef PRELOAD_CACHING_ALLOCATOR_H
#define PRELOAD_CACHING_ALLOCATOR_H

#include <stdbool.h>

/* There is one in the process. */
bool caching_allocator_is_loaded(void);

#endif
