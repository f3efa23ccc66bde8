/* SPDX-License-Identifier: MIT */
/*
 * bench_tasks.c - what an explicit task costs: made, run and waited for by one
 * thread, which is all that its team has.
 *
 *	bench_tasks TURNS
 *
 * Prints nanoseconds for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long sum;

static __attribute__((noinline)) void turns(long count)
{
	for (long at = 0; at < count; at++) {
#pragma omp task firstprivate(at)
		sum += at;
#pragma omp taskwait
	}
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 1000;
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
#pragma omp parallel num_threads(1)
	turns(count);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.1f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 +
			  (double)(end.tv_nsec - start.tv_nsec)) /
				 (double)count);
	return sum != count * (count - 1) / 2;
}
