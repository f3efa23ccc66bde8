/* SPDX-License-Identifier: MIT */
/* rovers_ranks.c - conjugate gradients on several ranks; what is left over is
 * computed anew each 50th iteration. */
#include <mpi.h>
#include <stdio.h>

#define N 4096

static double x[N], r[N], p[N + 2], q[N];

static double dot(const double *a, const double *b)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += a[i] * b[i];
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM,
		      MPI_COMM_WORLD);
	return sum;
}

static void apply(int rank, int ranks)
{
	const int left = rank ? rank - 1 : MPI_PROC_NULL;
	const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;

	MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 1, &p[N + 1], 1, MPI_DOUBLE,
		     right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&p[N], 1, MPI_DOUBLE, right, 2, &p[0], 1, MPI_DOUBLE, left,
		     2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		q[i] = 2.5 * p[i + 1] - p[i] - p[i + 2];
}

int main(int argc, char **argv)
{
	int rank, ranks;
	double old;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < N; i++)
		r[i] = p[i + 1] = 1 + i % 5 + rank;
	old = dot(r, r);
	for (int k = 1; k <= 160; k++) {
		double alpha, now;

		apply(rank, ranks);
		alpha = old / (dot(p + 1, q) + 1e-300);
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			x[i] += alpha * p[i + 1];
			r[i] -= alpha * q[i];
		}
		if (k % 50 == 0) {
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				r[i] = 1 + i % 5 + rank - 2.5 * x[i] +
				       x[i - 1] + x[i + 1];
		}
		now = dot(r, r);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			p[i + 1] = r[i] + now / (old + 1e-300) * p[i + 1];
		old = now;
	}
	if (!rank)
		printf("steps %d\n", 160);
	MPI_Finalize();
	return 0;
}
