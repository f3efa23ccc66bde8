/* SPDX-License-Identifier: MIT */
/*
 * soak.c - a little of everything for a long time, for tests/chaos/soak.
 *
 *	soak SECONDS
 *
 * A round is a step with a scope around an OpenMP region and blocks of many
 * sizes; a second thread does the same beside it without steps, and every
 * sixteenth round a thread comes and goes.  Each round's number and the
 * CLOCK_MONOTONIC before and after the scope's two ends go to the standard
 * output as one struct told; the first has number ~0 and holds CLOCK_REALTIME
 * between two readings instead.  What the program itself needs of memory does
 * not grow.
 */
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "traceprof.h"

#define NAMES	 1024 /* as in tests/chaos/soak */
#define BLOCKS	 64
#define ROUND_US 10000

struct told {
	uint64_t number;
	uint64_t before_push, after_push, before_pop, after_pop;
};

static volatile int ended;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static long soak_region(int work)
{
	long sum = 0;

#pragma omp parallel for num_threads(2) reduction(+ : sum)
	for (int i = 0; i < work; i++)
		sum += i ^ (sum >> 3);
	return sum;
}

/* The same sizes each time, from 16 bytes to 512 KiB. */
static void soak_blocks(void)
{
	char *volatile block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		block[i] = malloc((size_t)16 << i % 16);
		if (block[i])
			block[i][0] = 1;
	}
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
}

static void *guest(void *unused)
{
	traceprof_push("guest");
	soak_blocks();
	traceprof_pop();
	return unused;
}

static void *beside(void *unused)
{
	while (!ended) {
		traceprof_push("beside");
		soak_region(20000);
		soak_blocks();
		traceprof_pop();
		usleep(ROUND_US);
	}
	return unused;
}

static void tell(const struct told *told)
{
	/* Nobody reads any more: the end has come. */
	if (write(STDOUT_FILENO, told, sizeof(*told)) != sizeof(*told))
		exit(1);
}

static void tell_real_time(void)
{
	struct told told = {.number = ~(uint64_t)0};
	uint64_t best = ~(uint64_t)0;

	for (int i = 0; i < 100; i++) {
		const uint64_t before = now_ns(CLOCK_MONOTONIC);
		const uint64_t real = now_ns(CLOCK_REALTIME);
		const uint64_t after = now_ns(CLOCK_MONOTONIC);

		if (after - before >= best)
			continue;
		best = after - before;
		told.before_push = before;
		told.after_push = real;
		told.before_pop = after;
	}
	tell(&told);
}

static void do_round(uint64_t number)
{
	struct told told = {.number = number};
	char name[32];

	snprintf(name, sizeof(name), "soak %u", (unsigned int)(number % NAMES));
	traceprof_step();
	told.before_push = now_ns(CLOCK_MONOTONIC);
	traceprof_push(name);
	told.after_push = now_ns(CLOCK_MONOTONIC);
	soak_region(100000);
	soak_blocks();
	told.before_pop = now_ns(CLOCK_MONOTONIC);
	traceprof_pop();
	told.after_pop = now_ns(CLOCK_MONOTONIC);
	tell(&told);
}

int main(int argc, char **argv)
{
	const uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + seconds * 1000000000u;
	pthread_t side, visitor;

	tell_real_time();
	if (pthread_create(&side, NULL, beside, NULL))
		return 1;
	for (uint64_t round = 0; now_ns(CLOCK_MONOTONIC) < end; round++) {
		do_round(round);
		if (round % 16 == 15 &&
		    !pthread_create(&visitor, NULL, guest, NULL))
			pthread_join(visitor, NULL);
		usleep(ROUND_US);
	}
	ended = 1;
	pthread_join(side, NULL);
	return 0;
}
