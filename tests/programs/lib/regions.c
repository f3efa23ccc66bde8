/* SPDX-License-Identifier: MIT */
/* regions.c - regions of OpenMP that an interpreter may call. */
#define N 4096

static double x[N];

void region_one(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] += 1.0;
}

void region_two(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] *= 0.5;
}

void region_three(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] -= 0.1;
}

void region_four(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] *= x[i];
}

void region_deep(int depth)
{
	if (depth)
		region_deep(depth - 1);
	else
		region_one();
	x[0] += 1.0;
}
