/* SPDX-License-Identifier: MIT */
/*
 * bench_kernels.c - five well-known OpenMP programs whose regions are short.
 *
 *	bench_kernels cg|sor|lu|floyd|align THREADS REPEATS
 *
 *	cg	conjugate gradients on a grid: product, dot product, update
 *	sor	successive over-relaxation, red cells and black ones
 *	lu	LU decomposition, a region for each column
 *	floyd	all shortest paths, a region for each vertex
 *	align	alignment of two sequences, a region for each antidiagonal
 *
 * Prints nanoseconds of wall time and of processor time for each repeat, and
 * its regions.  What it computes goes to stderr, and is the same on any number
 * of threads but for rounding.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a tracer prepares at its start is its start's cost. */
enum { SETTLE_US = 100000 };
enum { SIDE = 66, CELLS = SIDE * SIDE, ORDER = 128, LENGTH = 600 };

static int threads;
static long regions;

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#define INSIDE(i) ((i) % SIDE && (i) % SIDE != SIDE - 1)

static double x[CELLS], r[CELLS], p[CELLS], q[CELLS];

static __attribute__((noinline)) double product(void)
{
	double sum = 0;

	regions++;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
	for (int i = SIDE; i < CELLS - SIDE; i++) {
		q[i] = INSIDE(i) ? 4 * p[i] - p[i - 1] - p[i + 1] -
					   p[i - SIDE] - p[i + SIDE]
				 : 0;
		sum += p[i] * q[i];
	}
	return sum;
}

static __attribute__((noinline)) double update(double alpha)
{
	double sum = 0;

	regions++;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
	for (int i = 0; i < CELLS; i++) {
		x[i] += alpha * p[i];
		r[i] -= alpha * q[i];
		sum += r[i] * r[i];
	}
	return sum;
}

static __attribute__((noinline)) void direction(double beta)
{
	regions++;
#pragma omp parallel for num_threads(threads)
	for (int i = 0; i < CELLS; i++)
		p[i] = r[i] + beta * p[i];
}

static double cg(void)
{
	double old = 0, rest;

	memset(x, 0, sizeof(x));
	for (int i = 0; i < CELLS; i++) {
		p[i] = r[i] = i >= SIDE && i < CELLS - SIDE && INSIDE(i);
		old += r[i] * r[i];
	}
	for (int turn = 0; turn < 60; turn++) {
		rest = update(old / product());
		direction(rest / old);
		old = rest;
	}
	return old;
}

static __attribute__((noinline)) void relax(int colour)
{
	regions++;
#pragma omp parallel for num_threads(threads)
	for (int row = 1; row < SIDE - 1; row++)
		for (int i = row * SIDE + 1 + (row + colour) % 2;
		     i < row * SIDE + SIDE - 1; i += 2)
			x[i] += 0.45 * (x[i - 1] + x[i + 1] + x[i - SIDE] +
					x[i + SIDE] - 4 * x[i] + 1);
}

static double sor(void)
{
	memset(x, 0, sizeof(x));
	for (int turn = 0; turn < 100; turn++) {
		relax(0);
		relax(1);
	}
	return x[CELLS / 2 + SIDE / 2];
}

static double a[ORDER][ORDER];

static __attribute__((noinline)) void eliminate(int k)
{
	regions++;
#pragma omp parallel for num_threads(threads)
	for (int i = k + 1; i < ORDER; i++) {
		a[i][k] /= a[k][k];
		for (int j = k + 1; j < ORDER; j++)
			a[i][j] -= a[i][k] * a[k][j];
	}
}

static double lu(void)
{
	for (int i = 0; i < ORDER; i++)
		for (int j = 0; j < ORDER; j++)
			a[i][j] = i == j ? ORDER : 1.0 / (1 + i + j);
	for (int k = 0; k < ORDER - 1; k++)
		eliminate(k);
	return a[ORDER - 1][ORDER - 1];
}

static __attribute__((noinline)) void pass_by(int k)
{
	regions++;
#pragma omp parallel for num_threads(threads)
	for (int i = 0; i < ORDER; i++)
		for (int j = 0; j < ORDER; j++)
			if (a[i][k] + a[k][j] < a[i][j])
				a[i][j] = a[i][k] + a[k][j];
}

static double floyd(void)
{
	for (int i = 0; i < ORDER; i++)
		for (int j = 0; j < ORDER; j++)
			a[i][j] = i == j ? 0 : 1 + (i * 7 + j * 13) % 97;
	for (int k = 0; k < ORDER; k++)
		pass_by(k);
	return a[1][ORDER - 1];
}

static int score[LENGTH + 1][LENGTH + 1];

static __attribute__((noinline)) void diagonal(int sum, int low, int high)
{
	regions++;
#pragma omp parallel for num_threads(threads)
	for (int i = low; i <= high; i++) {
		const int j = sum - i;
		const int same = i * 7 % 4 == j * 5 % 4 ? 3 : -2;
		int best = score[i - 1][j - 1] + same;

		if (score[i - 1][j] - 1 > best)
			best = score[i - 1][j] - 1;
		if (score[i][j - 1] - 1 > best)
			best = score[i][j - 1] - 1;
		score[i][j] = best > 0 ? best : 0;
	}
}

static double align(void)
{
	for (int sum = 2; sum <= 2 * LENGTH; sum++)
		diagonal(sum, sum > LENGTH ? sum - LENGTH : 1,
			 sum > LENGTH ? LENGTH : sum - 1);
	return score[LENGTH][LENGTH];
}

static const struct {
	const char *name;
	double (*run)(void);
} kernels[] = {
	{"cg", cg},	  {"sor", sor},	    {"lu", lu},
	{"floyd", floyd}, {"align", align},
};

int main(int argc, char **argv)
{
	double (*run)(void) = NULL;
	double wall_ns, cpu_ns, found = 0;
	long repeats;

	if (argc < 4)
		return 2;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(argv[1], kernels[i].name))
			run = kernels[i].run;
	threads = atoi(argv[2]);
	repeats = atol(argv[3]);
	if (!run || repeats < 1)
		return 2;
	run();
	usleep(SETTLE_US);
	regions = 0;
	wall_ns = now_ns(CLOCK_MONOTONIC);
	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < repeats; i++)
		found = run();
	wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	fprintf(stderr, "%s: %.6g\n", argv[1], found);
	printf("%.1f %.1f %ld\n", wall_ns / (double)repeats,
	       cpu_ns / (double)repeats, regions / repeats);
	return 0;
}
