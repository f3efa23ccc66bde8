/* SPDX-License-Identifier: MIT */
/*
 * uneven.c - a training loop with slow steps, and one that may never end.
 *
 *	uneven COUNT MS SLOW[,SLOW...] SLOW_MS [NEVER]
 *
 * Each of COUNT steps takes MS milliseconds, each step SLOW takes SLOW_MS, or
 * with "held" says so and lasts until a line comes; step NEVER, if given, waits
 * to be killed.  A step calls traceprof_step() and runs the region `work`; a
 * slow one is in the scope "slow part" meanwhile.
 */
#include "held.h"
#include "traceprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void take_long(int step, const char *ms)
{
	traceprof_push("slow part");
	if (!strcmp(ms, "held")) {
		held_wait(step);
	} else {
		take(atoi(ms));
	}
	traceprof_pop();
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 100;
	const int ms = argc > 2 ? atoi(argv[2]) : 5;
	const char *slow = argc > 3 ? argv[3] : "";
	const char *slow_ms = argc > 4 ? argv[4] : "0";
	const int never = argc > 5 ? atoi(argv[5]) : -1;
	int sum = 0;

	for (int i = 0; i < count; i++) {
		traceprof_step();
		sum += work();
		if (held_lists(slow, i))
			take_long(i, slow_ms);
		else
			take(ms);
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
