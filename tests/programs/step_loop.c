/* SPDX-License-Identifier: MIT */
/*
 * step_loop.c - a training loop in miniature: N steps, marked or not.
 *
 *	step_loop COUNT [milliseconds] [unmarked]
 *
 * Each iteration calls traceprof_step(), unless told not to, and then runs the
 * regions `work` once and `update` twice: iteration i is step i.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traceprof.h"

__attribute__((noinline)) static int work(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

__attribute__((noinline)) static int update(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 10;
	const int pause = argc > 2 ? atoi(argv[2]) : 0;
	const int marked = argc <= 3;
	int sum = 0;

	for (int i = 0; i < count; i++) {
		if (marked)
			traceprof_step();
		sum += work() + update() + update();
		if (pause)
			usleep((unsigned int)pause * 1000);
	}
	printf("%d steps, %d\n", count, sum);
	return 0;
}
