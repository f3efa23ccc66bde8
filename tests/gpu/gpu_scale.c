/* SPDX-License-Identifier: MIT */
/*
 * gpu_scale.c - what two processors can't show: many threads at once.
 *
 *	gpu_scale regions US THREADS COUNT	parallel regions in which each
 *						thread works for so long
 *	gpu_scale heap THREADS COUNT		blocks, each thread for itself
 *	gpu_scale both US THREADS COUNT		regions whose members allocate
 *
 * Prints nanoseconds: of a region, or of a block's life on one thread.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 256, WARM_UP = 100, BLOCKS_EACH = 4 };

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void work(double ns)
{
	const double end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void blocks(int count)
{
	for (int i = 0; i < count; i++) {
		char *volatile block = malloc(BLOCK);

		free(block);
	}
}

static double regions(double us, int threads, int count, int each)
{
	double start = 0;

	for (int i = 0; i < WARM_UP + count; i++) {
		if (i == WARM_UP)
			start = now_ns();
#pragma omp parallel num_threads(threads)
		{
			work(us * 1000);
			blocks(each);
		}
	}
	return (now_ns() - start) / count;
}

static double heap(int threads, int count)
{
	double start;

#pragma omp parallel num_threads(threads)
	blocks(WARM_UP);
	start = now_ns();
#pragma omp parallel num_threads(threads)
	blocks(count);
	return (now_ns() - start) / count;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "regions"))
		printf("ns %.1f\n",
		       regions(atof(argv[2]), atoi(argv[3]), atoi(argv[4]), 0));
	else if (argc == 5 && !strcmp(argv[1], "both"))
		printf("ns %.1f\n", regions(atof(argv[2]), atoi(argv[3]),
					    atoi(argv[4]), BLOCKS_EACH));
	else if (argc == 4 && !strcmp(argv[1], "heap"))
		printf("ns %.1f\n", heap(atoi(argv[2]), atoi(argv[3])));
	else
		return 2;
	return 0;
}
