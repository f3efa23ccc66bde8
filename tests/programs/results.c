/* SPDX-License-Identifier: MIT */
/*
 * results.c - reads totals from inside the program: report, totals, reset.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traceprof.h"

static void print_total(const struct traceprof_total *total, void *calls)
{
	printf("total %s %lu\n", total->name, (unsigned long)total->calls);
	*(unsigned long *)calls += total->calls;
}

int main(void)
{
	unsigned long calls = 0;
	void *volatile block;
	int names;

	for (int i = 0; i < 5; i++) {
		traceprof_push("counted");
		usleep(1000);
		traceprof_pop();
	}
	block = malloc(1 << 20);
	free(block);
	traceprof_report(10);
	names = traceprof_totals(print_total, &calls);
	printf("%d names, %lu calls\n", names, calls);
	traceprof_reset();
	traceprof_push("after reset");
	traceprof_pop();
	traceprof_report(10);
	printf("enabled %d\n", traceprof_enabled() != 0);
	return 0;
}
