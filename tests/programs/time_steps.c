/* SPDX-License-Identifier: MIT */
/*
 * time_steps.c - a solver of 24 iterations in each of 40 time steps: the inner
 * loop is seen long before the outer one has come round a few times.
 * time_steps ITERATIONS has so many.
 */
#include <stdio.h>
#include <stdlib.h>

#define CELLS 2000

static double x[CELLS], y[CELLS];

static void source(int step)
{
#pragma omp parallel for
	for (int i = 0; i < CELLS; i++)
		x[i] = (i % 17) * 0.5 + step;
}

static void apply(void)
{
#pragma omp parallel for
	for (int i = 0; i < CELLS; i++)
		y[i] = 0.5 * x[i] + 1;
}

static double norm(void)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < CELLS; i++)
		sum += y[i];
	return sum;
}

static void correct(double by)
{
#pragma omp parallel for
	for (int i = 0; i < CELLS; i++)
		x[i] += by;
}

int main(int argc, char **argv)
{
	const int iterations = argc > 1 ? atoi(argv[1]) : 24;

	for (int step = 0; step < 40; step++) {
		source(step);
		for (int i = 0; i < iterations; i++) {
			apply();
			correct(norm() > 0 ? 0.001 : 0);
		}
	}
	printf("done\n");
	return 0;
}
