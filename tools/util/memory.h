/* SPDX-License-Identifier: MIT */
/*
 * memory.h - allocation for the command line.
 *
 * A command that runs out of memory has nothing useful left to do: these say
 * so in one line and end the process with EXIT_UNREADABLE.  The library that
 * is preloaded into programs never uses them.
 */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stddef.h>

/* Says so and ends the command. */
_Noreturn void memory_exhausted(void);

/* Resize ptr (or allocate, when it is NULL) to count elements of size bytes. */
void *memory_resize(void *ptr, size_t count, size_t size);

/* count zeroed elements of size bytes. */
void *memory_zeroed(size_t count, size_t size);

/* Room for one more element after the used ones: doubles *capacity when it is
 * full.  Returns the array, which may have moved. */
void *memory_grow(void *array, size_t used, size_t *capacity, size_t size);

#endif
