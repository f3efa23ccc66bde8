/* SPDX-License-Identifier: MIT */
/*
 * manual.c - windows by hand: traceprof_start(name) and traceprof_stop().
 */
#include <stdio.h>
#include <unistd.h>

#include "traceprof.h"

int main(void)
{
	traceprof_push("before");
	traceprof_pop();
	traceprof_start("first");
	traceprof_push("in first");
	traceprof_pop();
	/* Refused: one records already. */
	traceprof_start("nested");
	traceprof_push("still in first");
	traceprof_pop();
	traceprof_stop();
	traceprof_push("between");
	traceprof_pop();
	traceprof_start("second");
	traceprof_push("in second");
	traceprof_pop();
	traceprof_stop();
	traceprof_stop();
	printf("done\n");
	return 0;
}
