/* SPDX-License-Identifier: MIT */
/*
 * loads_many.c - loads files that have memory of their own for each thread:
 * loads_many FILE...
 *
 * The loader makes room for theirs, by malloc(), when a thread next asks it for
 * such memory.  This program never asks, so that its list of them stays where
 * it is: prints whether it did.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static uintptr_t list(void)
{
	uintptr_t at = 0;

#if defined(__x86_64__)
	__asm__ volatile("mov %%fs:8, %0" : "=r"(at));
#endif
	return at;
}

/* Long enough for samples of 100 a second. */
static void work(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 10;

	while (clock() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
}

int main(int argc, char **argv)
{
	int count = 0;
	uintptr_t before;

	work();
	before = list();
	for (int i = 1; i < argc; i++)
		count += dlopen(argv[i], RTLD_NOW) != NULL;
	work();
	printf("%d files, the list %s\n", count,
	       list() == before ? "stayed" : "moved");
	return 0;
}
