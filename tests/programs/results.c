/* SPDX-License-Identifier: MIT */
/*
 * results.c - reads totals from inside the program: report, totals, reset.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "traceprof.h"

int main(void)
{
	for (int i = 0; i < 5; i++) {
		traceprof_push("counted");
		usleep(1000);
		traceprof_pop();
	}
	traceprof_report(10);
	traceprof_reset();
	traceprof_push("after reset");
	traceprof_pop();
	traceprof_report(10);
	printf("enabled %d\n", traceprof_enabled() != 0);
	return 0;
}
