/* SPDX-License-Identifier: MIT */
/*
 * nomads_ranks.c - bodies go round a ring: in each of 40 time steps the two
 * ranks pass theirs on, as often as there are ranks, and add up forces.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 2048

static double at[N], guest[N], force[N], speed[N];

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < N; i++)
		at[i] = i * (rank + 1);
	for (int t = 0; t < 40; t++) {
		memcpy(guest, at, sizeof(guest));
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			force[i] = 0;
		for (int k = 0; k < ranks; k++) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				for (int j = 0; j < 64; j++)
					force[i] += (guest[j] - at[i]) * 1e-6;
			MPI_Sendrecv_replace(guest, N, MPI_DOUBLE,
					     (rank + 1) % ranks, 0,
					     (rank + ranks - 1) % ranks, 0,
					     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			speed[i] += force[i];
			at[i] += 0.01 * speed[i];
		}
	}
	if (!rank)
		printf("steps 40\n");
	MPI_Finalize();
	return 0;
}
