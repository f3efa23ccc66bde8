/* SPDX-License-Identifier: MIT */
/*
 * leaps.c - leaves regions by longjmp(), which OpenMP forbids and a program
 * that handles its errors so does all the same.  More of them than slices are
 * kept open, with scopes around and between.
 */
#include <setjmp.h>
#include <stdio.h>

#include "traceprof.h"

static jmp_buf landing;

__attribute__((noinline)) static void leap(void)
{
#pragma omp parallel num_threads(1)
	{
		traceprof_push("never popped");
		longjmp(landing, 1);
	}
}

__attribute__((noinline)) static int last_region(void)
{
	int sum = 0;

#pragma omp parallel num_threads(1) reduction(+ : sum)
	sum += 1;
	return sum;
}

int main(void)
{
	traceprof_push("around");
	for (volatile int i = 0; i < 100; i++) {
		if (!setjmp(landing))
			leap();
		traceprof_push("between");
		traceprof_pop();
	}
	traceprof_pop();
	traceprof_push("after");
	traceprof_pop();
	printf("last %d\n", last_region());
	return 0;
}
