/* SPDX-License-Identifier: MIT */
/*
 * unmarked_leak.c - a trainer that marks no step: its loop is found by its one
 * region.
 *
 *	unmarked_leak STEPS LEAKS	1 MB kept a step, where LEAKS isn't 0
 */
#include <stdio.h>
#include <stdlib.h>

#define KEPT 4096

static double *kept[KEPT];

static __attribute__((noinline)) double *make_activation(size_t count)
{
	double *made = malloc(count * sizeof(*made));

	for (size_t i = 0; i < count; i++)
		made[i] = (double)i;
	return made;
}

static __attribute__((noinline)) double forward(int step, int leaks)
{
	double *activation = make_activation(131072);
	const double last = activation[131071];

	if (leaks)
		kept[step % KEPT] = activation;
	else
		free(activation);
	return last;
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 60;
	const int leaks = argc > 2 && atoi(argv[2]);
	double sum = 0;

	for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum) num_threads(2)
		for (int i = 0; i < 100000; i++)
			sum += i % 3;
		sum += forward(step, leaks);
	}
	printf("%.0f %d\n", sum, kept[0] != NULL);
	return 0;
}
