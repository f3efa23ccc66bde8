/* SPDX-License-Identifier: MIT */
/* blocks.c - a library that allocates: for programs that open and close it. */
#include <stdlib.h>

void *library_block(size_t bytes);

static __attribute__((noinline)) void *inner_block(size_t bytes)
{
	volatile char frame[200] = {0};

	return malloc(bytes + (size_t)frame[1]);
}

void *library_block(size_t bytes)
{
	char *block = inner_block(bytes);

	block[0] = 1;
	return block;
}
