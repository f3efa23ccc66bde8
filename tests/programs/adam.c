/* SPDX-License-Identifier: MIT */
/*
 * adam.c - a trainer that says nothing of its steps.
 *
 *	adam BATCHES
 *
 * Each batch runs the regions `forward` and `adam_update` once.
 */
#include <stdio.h>
#include <stdlib.h>

static double weights[64];

__attribute__((noinline)) static double forward(void)
{
	double loss = 0;

#pragma omp parallel for num_threads(2) reduction(+ : loss)
	for (int i = 0; i < 64; i++)
		loss += weights[i] - 1;
	return loss;
}

__attribute__((noinline)) static void adam_update(double rate)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 64; i++)
		weights[i] -= rate * (weights[i] - 1);
}

int main(int argc, char **argv)
{
	const int batches = argc > 1 ? atoi(argv[1]) : 100;
	double loss = 0;

	for (int i = 0; i < batches; i++) {
		loss = forward();
		adam_update(0.01);
	}
	printf("loss %.6f\n", loss);
	return 0;
}
