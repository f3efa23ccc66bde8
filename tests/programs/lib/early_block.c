/* SPDX-License-Identifier: MIT */
/* early_block.c - allocates in its constructor, which runs before those of the
 * libraries that are preloaded before it. */
#include <stdlib.h>

static void *volatile block;

static __attribute__((constructor)) void construct(void)
{
	block = malloc(100);
	free(block);
}
