/* SPDX-License-Identifier: MIT */
/*
 * bench_heap.c - calls malloc and free and says what a call cost.
 *
 *	bench_heap pair|mixed|omp THREADS PAIRS [RATE]
 *
 *	pair	malloc(64) and free at once: what the allocator does best
 *	mixed	random sizes in random slots, most blocks live for a while
 *	omp	as mixed, and a serial parallel region for every eighth pair
 *	RATE	no faster than so many calls a second
 *
 * Prints nanoseconds of wall time and of processor time for each call, the
 * calls in all, and the most memory that was resident, in KiB.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a tracer prepares at its start is its start's cost, not a call's. */
enum { SLOTS = 1024, STRETCH = 64, SETTLE_US = 100000 };

static enum { PAIR, MIXED, OMP } pattern;
static long pairs;
static double stretch_ns; /* 0: as fast as it goes */
static pthread_barrier_t start;
static long cells[64];

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_pairs(long count)
{
	for (long i = 0; i < count; i++) {
		void *block = malloc(64);

		__asm__ volatile("" : : "r"(block) : "memory");
		free(block);
	}
}

static __attribute__((noinline)) void region(int number)
{
#pragma omp parallel num_threads(1)
	cells[number]++;
}

static void run_mixed(long count, void **slots, unsigned int *random)
{
	for (long i = 0; i < count; i++) {
		unsigned int at;

		*random = *random * 1664525u + 1013904223u;
		at = *random >> 22 & (SLOTS - 1);
		free(slots[at]);
		slots[at] = malloc(16 + (*random >> 8 & 1023));
		if (pattern == OMP && i % 8 == 0)
			region((int)(at & 63));
	}
}

/* What is measured, and nothing else: t_instructions counts in here alone. */
static __attribute__((noipa)) void run(void **slots, unsigned int *random,
				       double begin_ns)
{
	for (long done = 0; done < pairs; done += STRETCH) {
		if (pattern == PAIR)
			run_pairs(STRETCH);
		else
			run_mixed(STRETCH, slots, random);
		while (stretch_ns &&
		       now_ns(CLOCK_MONOTONIC) - begin_ns <
			       stretch_ns * (double)(done / STRETCH + 1))
			;
	}
}

struct result {
	double wall_ns;
	double cpu_ns;
};

static void *work(void *argument)
{
	struct result *result = argument;
	void **slots = calloc(SLOTS, sizeof(*slots));
	unsigned int random = (unsigned int)(size_t)argument;
	double wall_ns, cpu_ns;

	run_mixed(SLOTS, slots, &random);
	usleep(SETTLE_US);
	pthread_barrier_wait(&start);
	wall_ns = now_ns(CLOCK_MONOTONIC);
	cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	run(slots, &random, wall_ns);
	result->wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
	result->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	free(slots);
	return NULL;
}

static long most_resident(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "VmHWM:", 6))
			kib = atol(line + 6);
	if (file)
		fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t ids[64];
	struct result results[64];
	double wall_ns = 0, cpu_ns = 0, calls;

	if (argc < 4 || threads < 1 || threads > 64)
		return 2;
	pattern = argv[1][0] == 'p' ? PAIR : argv[1][0] == 'm' ? MIXED : OMP;
	pairs = atol(argv[3]) / STRETCH * STRETCH;
	if (argc > 4)
		stretch_ns = 2e9 * STRETCH / atof(argv[4]);
	pthread_barrier_init(&start, NULL, (unsigned int)threads);
	for (int i = 1; i < threads; i++)
		pthread_create(&ids[i], NULL, work, &results[i]);
	work(&results[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < threads; i++) {
		wall_ns += results[i].wall_ns / threads;
		cpu_ns += results[i].cpu_ns;
	}
	calls = 2.0 * (double)pairs * threads;
	printf("%.3f %.3f %.0f %ld\n", wall_ns * threads / calls,
	       cpu_ns / calls, calls, most_resident());
	return 0;
}
