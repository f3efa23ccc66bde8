/* SPDX-License-Identifier: MIT */
/*
 * asked_peaks.c - its blocks hold most at another time than most is asked for.
 *
 *	many()		2000 blocks of a byte: glibc gives each 24
 *	one()		then one of 30,000, when these are gone
 *	keep()		at the end 100 of ten bytes, that had 1000 before
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static void *blocks[2000];

static NOINLINE void many(void)
{
	for (int i = 0; i < 2000; i++)
		blocks[i] = malloc(1);
	for (int i = 0; i < 2000; i++)
		free(blocks[i]);
}

static NOINLINE void one(void)
{
	void *volatile block = malloc(30000);

	free(block);
}

static NOINLINE void keep(void)
{
	for (int i = 0; i < 100; i++) {
		void *volatile block = calloc(10, 1);

		block = realloc(block, 1000);
		blocks[i] = realloc(block, 10);
	}
}

int main(void)
{
	many();
	one();
	keep();
	puts("done");
	return 0;
}
