/* SPDX-License-Identifier: MIT */
/* drifters_ranks.c - heat on several ranks: edges are exchanged, the change of
 * all is known each tenth step. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define N 4096

static double now[N], next[N];

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	now[N / 2] = 100 * (rank + 1);
	for (int t = 0; t < 100; t++) {
		const int left = (rank + ranks - 1) % ranks;
		const int right = (rank + 1) % ranks;

		MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, left, 0, &now[N - 1], 1,
			     MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		MPI_Sendrecv(&now[N - 2], 1, MPI_DOUBLE, right, 1, &now[0], 1,
			     MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			next[i] =
				0.5 * now[i] + 0.25 * (now[i - 1] + now[i + 1]);
		if (t % 10 == 9) {
			double here = 0, all;

#pragma omp parallel for reduction(+ : here)
			for (int i = 1; i < N - 1; i++)
				here += fabs(next[i] - now[i]);
			MPI_Allreduce(&here, &all, 1, MPI_DOUBLE, MPI_SUM,
				      MPI_COMM_WORLD);
			if (!rank)
				printf("%d %g\n", t, all);
		}
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			now[i] = next[i];
	}
	if (!rank)
		printf("steps %d\n", 100);
	MPI_Finalize();
	return 0;
}
