/* SPDX-License-Identifier: MIT */
/*
 * uneven.c - a training loop with one slow step, and one that may never end.
 *
 *	uneven COUNT MS SLOW SLOW_MS [NEVER]
 *
 * Each of COUNT steps takes MS milliseconds, step SLOW takes SLOW_MS; step
 * NEVER, if given, waits to be killed.  A step calls traceprof_step() and runs
 * the region `work`; the slow one is in the scope "slow part" meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "traceprof.h"

__attribute__((noinline)) static int work(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

static void take(int ms)
{
	usleep((unsigned int)ms * 1000);
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 100;
	const int ms = argc > 2 ? atoi(argv[2]) : 5;
	const int slow = argc > 3 ? atoi(argv[3]) : -1;
	const int slow_ms = argc > 4 ? atoi(argv[4]) : 0;
	const int never = argc > 5 ? atoi(argv[5]) : -1;
	int sum = 0;

	for (int i = 0; i < count; i++) {
		traceprof_step();
		sum += work();
		if (i == slow) {
			traceprof_push("slow part");
			take(slow_ms);
			traceprof_pop();
		} else {
			take(ms);
		}
		if (i == never) {
			traceprof_push("never ends");
			printf("waits\n");
			fflush(stdout);
			pause();
		}
	}
	printf("%d steps, %d\n", count, sum);
	return 0;
}
