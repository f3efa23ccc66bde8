/* SPDX-License-Identifier: MIT */
/*
 * seafarers_ranks.c - two jobs of several ranks: `islands`, whose best move on
 * each tenth generation, and `halo`, time steps that are each solved until all
 * ranks are content.
 */
#include "../vectors.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = LENGTH };

static double x[N], y[N], r[N], p[N], q[N], fit[N];

static double sum_of(double mine)
{
	double all;

	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

static int islands(int rank, int ranks)
{
	int generation = 0;

	for (int i = 0; i < N; i++)
		x[i] = noise() * (rank + 1);
	for (; generation < 60; generation++) {
		double best = 1e9;

#pragma omp parallel for reduction(min : best)
		for (int i = 0; i < N; i++) {
			fit[i] = x[i] * x[i] + sin(9 * x[i]);
			best = fmin(best, fit[i]);
		}
		for (int i = 0; i < N; i++)
			y[i] = x[fit[i] < fit[(i * 7) % N] ? i : (i * 7) % N];
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			x[i] = 0.5 * (y[i] + y[(i + 31) % N]);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			x[i] += 0.05 * sin(i * generation);
		if (generation % 10 == 9) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				q[i] = x[i];
			MPI_Sendrecv(q, 64, MPI_DOUBLE, (rank + 1) % ranks, 0,
				     x, 64, MPI_DOUBLE,
				     (rank + ranks - 1) % ranks, 0,
				     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			best = sum_of(best);
			if (!rank)
				printf("%d: %f\n", generation, best);
		}
	}
	return generation;
}

static int halo(int rank, int ranks)
{
	int step = 0;

	for (int i = 0; i < N; i++)
		x[i] = noise();
	for (; step < 32; step++) {
		double size, goal, next;
		int k = 0;

#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			y[i] = x[i] + 0.1 * sin(step * 0.3);
			r[i] = y[i] - x[i] + 1e-3 * cos(i * 7);
		}
		r[0] = r[N - 1] = 0;
		copy(p, r);
		size = sum_of(dot(r, r));
		goal = size * (step % 3 ? 1e-3 : 1e-5);
		for (; k < 50 && size > goal; k++) {
			MPI_Sendrecv(&p[N - 2], 1, MPI_DOUBLE,
				     (rank + 1) % ranks, 0, &p[0], 1,
				     MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
				     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				q[i] = 2.5 * p[i] - p[i - 1] - p[i + 1];
			const double far = size / (sum_of(dot(p, q)) + 1e-30);

			add(x, far, p);
			add(r, -far, q);
			next = sum_of(dot(r, r));
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				p[i] = r[i] + next / size * p[i];
			size = next;
		}
		if (step % 8 == 7 && !rank)
			printf("%d: %d turns\n", step, k);
	}
	return step;
}

int main(int argc, char **argv)
{
	int rank, ranks, steps;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	steps = argc > 1 && !strcmp(argv[1], "halo") ? halo(rank, ranks)
						     : islands(rank, ranks);
	if (!rank)
		printf("steps %d\n", steps);
	MPI_Finalize();
	return 0;
}
