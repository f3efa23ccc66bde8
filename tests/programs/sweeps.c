/* SPDX-License-Identifier: MIT */
/*
 * sweeps.c - one region and nothing else, in loops that only the program knows:
 *
 *	sweeps LOOPS
 *
 *	three	60 iterations, of a call from each of three places
 *	to_fro	25 time steps of 6 sweeps to and fro
 *	jacobi	25 time steps of 12 sweeps
 *	until	25 time steps of as many sweeps as each needs
 *	mixed	300 calls from three places, in no order
 *	N	N time steps of 4 to 6 sweeps
 */
#include <stdlib.h>
#include <string.h>

#define N 2000

static double u[N], v[N], w[N];

static __attribute__((noinline)) void sweep(const double *from, double *to)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		to[i] = .5 * from[i] + .25 * (from[i - 1] + from[i + 1]);
}

static void three(void)
{
	for (int k = 0; k < 60; k++) {
		sweep(u, v);
		v[k] += 1;
		sweep(v, w);
		w[k] -= .5;
		sweep(w, u);
	}
}

static void to_fro(void)
{
	for (int step = 0; step < 25; step++) {
		u[step] += 1;
		for (int k = 0; k < 6; k++) {
			sweep(u, v);
			sweep(v, u);
		}
	}
}

static void jacobi(int is_uneven)
{
	for (int step = 0; step < 25; step++) {
		u[step] += 1;
		for (int k = 0; k < (is_uneven ? 8 + step * 5 % 7 : 12); k++) {
			sweep(u, v);
			memcpy(u, v, sizeof(u));
		}
	}
}

static void mixed(void)
{
	unsigned int luck = 1;

	for (int k = 0; k < 300; k++) {
		luck = luck * 1103515245u + 12345u;
		if (luck >> 16 & 1)
			sweep(u, v);
		else if (luck >> 17 & 1)
			sweep(v, w);
		else
			sweep(w, u);
	}
}

static void few(int steps)
{
	for (int step = 0; step < steps; step++) {
		u[step] += 1;
		for (int k = 0; k < 4 + step % 3; k++) {
			sweep(u, v);
			memcpy(u, v, sizeof(u));
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	u[N / 2] = 1;
	if (!strcmp(what, "three"))
		three();
	else if (!strcmp(what, "to_fro"))
		to_fro();
	else if (!strcmp(what, "mixed"))
		mixed();
	else if (atoi(what) > 0)
		few(atoi(what));
	else
		jacobi(!strcmp(what, "until"));
	return u[1] > 1e9;
}
