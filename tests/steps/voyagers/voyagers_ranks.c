/* SPDX-License-Identifier: MIT */
/*
 * voyagers_ranks.c - two jobs of several ranks: `shock`, whose ranks agree on
 * the length of each time step, and `replicas`, which train one network on
 * parts of the data, validated each epoch.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, W = 40 };

static double x[N + 2], y[N + 2], weight[W * W], slope[W * W], all[W * W];

static int shock(int rank, int ranks)
{
	double t = 0;
	int step = 0;

	for (int i = 0; i < N + 2; i++)
		x[i] = rank ? 0.1 : 1;
	for (; step < 120; step++) {
		double fastest = 0, agreed;

#pragma omp parallel for reduction(max : fastest)
		for (int i = 1; i <= N; i++)
			fastest = fmax(fastest, fabs(x[i]));
		MPI_Allreduce(&fastest, &agreed, 1, MPI_DOUBLE, MPI_MAX,
			      MPI_COMM_WORLD);
		MPI_Sendrecv(&x[N], 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &x[0],
			     1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp parallel for
		for (int i = 1; i <= N; i++)
			y[i] = 0.5 * (x[i] * x[i] - x[i - 1] * x[i - 1]);
#pragma omp parallel for
		for (int i = 1; i <= N; i++)
			x[i] -= 0.2 / agreed * y[i];
		t += 0.2 / agreed;
		if (step % 24 == 23) {
			double sum = 0;

#pragma omp parallel for reduction(+ : sum)
			for (int i = 1; i <= N; i++)
				sum += x[i];
			MPI_Reduce(&sum, &agreed, 1, MPI_DOUBLE, MPI_SUM, 0,
				   MPI_COMM_WORLD);
			if (!rank)
				printf("t %f: %f\n", t, agreed);
		}
	}
	return step;
}

static void layer(const double *in, double *out)
{
#pragma omp parallel for
	for (int o = 0; o < W; o++) {
		double sum = 0;

		for (int i = 0; i < W; i++)
			sum += weight[o * W + i] * in[i];
		out[o] = tanh(sum);
	}
}

static int replicas(int rank, int ranks)
{
	int batches = 0;

	for (int i = 0; i < W * W; i++)
		weight[i] = sin(i);
	for (int epoch = 0; epoch < 6; epoch++) {
		double loss = 0, mean;

		for (int b = 0; b < 14; b++, batches++) {
			for (int i = 0; i < W; i++)
				x[i] = sin(i * b + rank);
			layer(x, y);
			layer(y, x);
#pragma omp parallel for
			for (int i = 0; i < W * W; i++)
				slope[i] = (x[i / W] - 0.1) * y[i % W];
			MPI_Allreduce(slope, all, W * W, MPI_DOUBLE, MPI_SUM,
				      MPI_COMM_WORLD);
#pragma omp parallel for
			for (int i = 0; i < W * W; i++)
				weight[i] -= 0.01 / ranks * all[i];
		}
		for (int b = 0; b < 5; b++) {
			layer(x, y);
			layer(y, x);
			loss += x[0];
		}
		MPI_Reduce(&loss, &mean, 1, MPI_DOUBLE, MPI_SUM, 0,
			   MPI_COMM_WORLD);
		if (!rank)
			printf("%d: %f\n", epoch, mean);
	}
	return batches;
}

int main(int argc, char **argv)
{
	int rank, ranks, steps;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	steps = argc > 1 && !strcmp(argv[1], "replicas") ? replicas(rank, ranks)
							 : shock(rank, ranks);
	if (!rank)
		printf("steps %d\n", steps);
	MPI_Finalize();
	return 0;
}
