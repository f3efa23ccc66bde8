/* SPDX-License-Identifier: MIT */
/*
 * bench_region.c - runs parallel regions and says what one took.
 *
 *	bench_region THREADS REGIONS WORK
 *
 * WORK is how many steps of a loop each member does: 0 makes an empty region.
 * Prints nanoseconds of wall time and of processor time, of all threads and of
 * the first, for each region.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What a tracer prepares at its start is its start's cost, not a region's. */
enum { SETTLE_US = 100000 };

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static __attribute__((noinline)) void region(int threads, long work)
{
#pragma omp parallel num_threads(threads)
	for (long i = 0; i < work; i++)
		__asm__ volatile("" : : "r"(i));
}

int main(int argc, char **argv)
{
	double wall_ns, cpu_ns, first_ns;
	int threads;
	long regions, work;

	if (argc < 4)
		return 2;
	threads = atoi(argv[1]);
	regions = atol(argv[2]);
	work = atol(argv[3]);
	for (int i = 0; i < 100; i++)
		region(threads, work);
	usleep(SETTLE_US);
	wall_ns = now_ns(CLOCK_MONOTONIC);
	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	first_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; i < regions; i++)
		region(threads, work);
	wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	first_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - first_ns;
	printf("%.3f %.3f %.3f\n", wall_ns / (double)regions,
	       cpu_ns / (double)regions, first_ns / (double)regions);
	return 0;
}
