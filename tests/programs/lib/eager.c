/* SPDX-License-Identifier: MIT */
/*
 * eager.c - a library whose constructor allocates and runs a region.
 *
 * A dependency's constructor runs before that of a preloaded library.
 */
#include <stdlib.h>
#include <string.h>

int early_sum;
void *early_block;

__attribute__((noinline)) static void early_region(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	early_sum = sum;
}

__attribute__((constructor)) static void early_start(void)
{
	early_block = malloc(123456);
	memset(early_block, 7, 123456);
	early_region();
}

/* And late: after the preloaded library's own destructor. */
__attribute__((destructor)) static void early_end(void)
{
	early_region();
	free(early_block);
}
