/* SPDX-License-Identifier: MIT */
/*
 * optimizer.c - a training of 5 epochs of 20 batches with a validation after
 * each, with the ranges that PyTorch's optimizers make:
 *
 *	optimizer [KINDS [OFTEN]]
 *
 * KINDS: optimizers that step in each batch, 1 unless it is given.  OFTEN: 0
 * for one that steps after each second batch.
 */
#define N 4096
#include "programs.h"

#include "traceprof.h"

static double x[N], y[N];

LOOP(forward, y[i] = 0.5 * x[i])
LOOP(backward, x[i] += 0.1 * y[i])

static void step(const char *name)
{
	traceprof_push(name);
	x[0] += y[1];
	traceprof_pop();
}

int main(int argc, char **argv)
{
	const int kinds = argc > 1 ? atoi(argv[1]) : 1;
	const int often = argc > 2 ? atoi(argv[2]) : 1;

	for (int epoch = 0; epoch < 5; epoch++) {
		for (int batch = 0; batch < 20; batch++) {
			for (int layer = 0; layer < 3; layer++)
				forward();
			for (int layer = 0; layer < 3; layer++)
				backward();
			if (often || batch % 2)
				step("Optimizer.step#SGD.step");
			if (kinds > 1)
				step("Optimizer.step#Adam.step");
		}
		for (int batch = 0; batch < 5; batch++)
			for (int layer = 0; layer < 3; layer++)
				forward();
	}
	printf("%g\n", x[0]);
	return 0;
}
