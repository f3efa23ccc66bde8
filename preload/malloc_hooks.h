/* SPDX-License-Identifier: MIT */
/* malloc_hooks.h - what others must know about our malloc. */
#ifndef PRELOAD_MALLOC_HOOKS_H
#define PRELOAD_MALLOC_HOOKS_H

/* The address of the library's own malloc, even where another one comes first
 * in the program's look-up order. */
void *malloc_hooks_malloc_address(void);

#endif
