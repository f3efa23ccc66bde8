/* SPDX-License-Identifier: MIT */
/*
 * spins.c - THREADS REGIONS MICROSECONDS: short regions whose threads spin at
 * every barrier, so that no core is ever idle.  Prints the regions and, with a
 * fourth argument, the seconds that they took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* So many rounds of dependent additions take about a microsecond. */
#define ROUNDS 300

static double sums[64][8];

static void work(int thread, int micros)
{
	double sum = sums[thread % 64][0];

	for (int i = 0; i < micros * ROUNDS; i++)
		sum = sum * 0.999999 + 1e-6 * i;
	sums[thread % 64][0] = sum;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 2;
	const int regions = argc > 2 ? atoi(argv[2]) : 150000;
	const int micros = argc > 3 ? atoi(argv[3]) : 9;
	const double begin = now();
	int done = 0;

	for (int i = 0; i < regions / 2; i++) {
#pragma omp parallel for num_threads(threads) schedule(static)
		for (int t = 0; t < threads; t++)
			work(t, micros);
#pragma omp parallel for num_threads(threads) schedule(static)
		for (int t = 0; t < threads; t++)
			work(t, micros);
		done += 2;
	}
	printf("%d regions\n", done);
	if (argc > 4)
		printf("%.4f\n", now() - begin);
	return 0;
}
