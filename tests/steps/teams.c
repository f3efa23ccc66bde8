/* SPDX-License-Identifier: MIT */
/*
 * teams.c - regions within a team's region, which chance begins on this member
 * or on that: what the main thread has of them differs from run to run, here by
 * the third argument.
 *
 *	electrons	40	iterations of k-points with their own regions
 *	whole		60	steps of a loop within one team's region
 *
 *	teams NAME [SIZE [CHANCE]]
 */
#define N 4096
#include "programs.h"
#include <omp.h>

static double x[N], y[N], h[4][N], z[4][N];

/* Which of two members does it. */
static int by_chance(int t, int k)
{
	unsigned int value =
		delay * 2654435761u + (unsigned int)(t * 64 + k) * 40503u;

	value = (value ^ value >> 13) * 2246822519u;
	return value >> 17 & 1;
}

LOOP(potential, y[i] = sin(x[i]))
LOOP(mix, x[i] += 0.3 * (y[i] - x[i]))
SUM(energy, x[i] * y[i])

static __attribute__((noinline)) void hamilton(int k)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		h[k % 4][i] = y[i] * k;
}

static __attribute__((noinline)) void diagonalise(int k)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		z[k % 4][i] += h[k % 4][i] * 0.1;
}

static __attribute__((noinline)) void points(int t)
{
#pragma omp parallel num_threads(2)
	for (int k = 0; k < 8; k++) {
		/* The last point comes to the main thread nearly always. */
		if (omp_get_thread_num() !=
		    (k == 7 ? t % 8 == delay % 8 : by_chance(t, k)))
			continue;
		hamilton(k);
		if (k % 4 == 3)
			diagonalise(k);
	}
}

static int electrons(void)
{
	const unsigned int chance = delay;

	for (int t = 0; t < size; t++) {
		delay = 0;
		potential();
		delay = chance;
		points(t);
		delay = 0;
		mix();
		if (energy() < -1)
			break;
		delay = chance;
	}
	return size;
}

LOOP(forward, y[i] = fmax(x[i], 0))
LOOP(backward, x[i] -= 0.01 * y[i])

static int whole(void)
{
#pragma omp parallel num_threads(2)
#pragma omp master
	for (int t = 0; t < size; t++) {
		delay = 0;
		forward();
		forward();
		backward();
	}
	return size;
}

int main(int argc, char **argv)
{
	static const struct program programs[] = {{"electrons", electrons, 40},
						  {"whole", whole, 60}};

	return run_named(argc, argv, programs, 2);
}
