/* SPDX-License-Identifier: MIT */
/*
 * bench_region.c - runs parallel regions and says what one took.
 *
 *	bench_region THREADS REGIONS WORK
 *
 * WORK is how many steps of a loop each member does: 0 makes an empty region.
 * Prints nanoseconds of wall time and of processor time, of all threads and of
 * the first, for each region.
 *
 * libgomp takes an aligned block from the heap for each team of one, and glibc
 * does a fifth more for that where the free blocks lie badly by chance.  So the
 * regions run in turns, between which the heap is moved.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What a tracer prepares at its start is its start's cost, not a region's. */
enum { SETTLE_US = 100000 };

/* glibc's blocks begin at multiples of 16, libgomp's at multiples of 64. */
enum { GRAIN = 16, PLACES = 4, TURNS = 8 * PLACES, LARGE = 16384 };

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* t_instructions counts in here alone. */
static __attribute__((noipa)) void region(int threads, long work)
{
#pragma omp parallel num_threads(threads)
	for (long i = 0; i < work; i++)
		__asm__ volatile("" : : "r"(i));
}

/* More than what lies free inside the heap, so that its end moves. */
static void move_heap(int grains)
{
	const int bytes = LARGE + GRAIN * grains - (int)sizeof(size_t);
	void *volatile kept = malloc((size_t)bytes);

	(void)kept;
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
	for (int turn = 0; turn < TURNS; turn++) {
		for (long i = 0; i < regions / TURNS; i++)
			region(threads, work);
		move_heap(turn % PLACES);
	}
	regions = regions / TURNS * TURNS;
	wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	first_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - first_ns;
	printf("%.3f %.3f %.3f\n", wall_ns / (double)regions,
	       cpu_ns / (double)regions, first_ns / (double)regions);
	return 0;
}
