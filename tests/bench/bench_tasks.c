/* SPDX-License-Identifier: MIT */
/*
 * bench_tasks.c - what an explicit task costs: made, run and waited for by one
 * thread, which is all that its team has.
 *
 *	bench_tasks TURNS
 */
#include <stdio.h>
#include <stdlib.h>

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

#pragma omp parallel num_threads(1)
	turns(count);
	printf("%ld\n", sum);
	return 0;
}
