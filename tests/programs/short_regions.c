/* SPDX-License-Identifier: MIT */
/*
 * short_regions.c - many regions that do next to nothing.
 *
 *	short_regions TURNS LAYERS THREADS [barrier|kill|spin]
 *
 * Each turn is one region of begin_turn() and LAYERS of work(); `barrier` has
 * one in each of the latter, `kill` ends with SIGKILL, `spin` computes for 1.2
 * seconds more.  After the first turn it waits for the writer: until that knows
 * what a call costs, nothing is thinned.
 */
#include "traceprof.h"
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int threads;
static long sum;

static __attribute__((noinline)) void begin_turn(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp atomic
	sum++;
}

static __attribute__((noinline)) void work(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp atomic
	sum++;
}

static __attribute__((noinline)) void work_and_wait(void)
{
#pragma omp parallel num_threads(threads)
	{
#pragma omp atomic
		sum++;
#pragma omp barrier
	}
}

static void ignore(const struct traceprof_total *total, void *arg)
{
	(void)total;
	(void)arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 4 ? argv[4] : "";

	if (argc < 4)
		return 2;
	threads = atoi(argv[3]);
	for (int turn = 0; turn < atoi(argv[1]); turn++) {
		begin_turn();
		for (int layer = 0; layer < atoi(argv[2]); layer++)
			if (strcmp(how, "barrier"))
				work();
			else
				work_and_wait();
		if (!turn)
			traceprof_totals(ignore, NULL);
	}
	while (!strcmp(how, "spin") && clock() < 1.2 * CLOCKS_PER_SEC)
		;
	printf("%ld\n", sum);
	if (!strcmp(how, "kill")) {
		fflush(stdout);
		raise(SIGKILL);
	}
	return 0;
}
