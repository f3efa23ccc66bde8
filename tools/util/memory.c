/* SPDX-License-Identifier: MIT */
/*
 * memory.c - allocation that ends the command when there is no memory.
 */
#include "tools/util/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/util/command.h"

_Noreturn void memory_exhausted(void)
{
	fputs("traceprof: out of memory\n", stderr);
	exit(EXIT_UNREADABLE);
}

void *memory_resize(void *ptr, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		memory_exhausted();
	ptr = realloc(ptr, count && size ? count * size : 1);
	if (!ptr)
		memory_exhausted();
	return ptr;
}

void *memory_zeroed(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size ? size : 1);

	if (!ptr)
		memory_exhausted();
	return ptr;
}

void *memory_grow(void *array, size_t used, size_t *capacity, size_t size)
{
	if (used < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 16;
	return memory_resize(array, *capacity, size);
}
