/* SPDX-License-Identifier: MIT */
/*
 * newcomers_ranks.c - waves on two ranks, 70 time steps, an energy each 7; both
 * ranks have the same step.
 */
#include <mpi.h>
#include <stdio.h>

#define N 4096

static double u[N], v[N], old[N];

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	u[N / 2] = 1 + rank;
	for (int t = 0; t < 70; t++) {
		const int left = (rank + ranks - 1) % ranks;
		const int right = (rank + 1) % ranks;

		MPI_Sendrecv(&u[N - 2], 1, MPI_DOUBLE, right, 0, &u[0], 1,
			     MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 1, &u[N - 1], 1,
			     MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			v[i] = 2 * u[i] - old[i] +
			       0.2 * (u[i + 1] - 2 * u[i] + u[i - 1]);
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			old[i] = u[i];
			u[i] = v[i];
		}
		if (t % 7 == 6) {
			double mine = 0, all;

#pragma omp parallel for reduction(+ : mine)
			for (int i = 0; i < N; i++)
				mine += (u[i] - old[i]) * (u[i] - old[i]);
			MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM,
				      MPI_COMM_WORLD);
			if (!rank)
				printf("%d %g\n", t, all);
		}
	}
	if (!rank)
		printf("steps 70\n");
	MPI_Finalize();
	return 0;
}
