/* SPDX-License-Identifier: MIT */
/*
 * optimizer.c - a training of 5 epochs of 20 batches with a validation after
 * each, with the ranges that PyTorch's optimizers make:
 *
 *	optimizer [KINDS [OFTEN [EPOCHS]]]
 *	optimizer twins
 *	optimizer rivals [PASSES]
 *
 * KINDS: optimizers that step in each batch, 1 unless it is given.  OFTEN: 0
 * for one that steps after each second batch.
 *
 * twins: two of one class, which step once in each of 60 batches, after a pass
 * and after two; all from one loop, as an interpreter's.
 *
 * rivals: two classes, each of which steps once in each of 60 batches, the one
 * after a pass and the other after so many, 1 unless it is given.
 */
#define N 4096
#include "programs.h"

#include "traceprof.h"

static double x[N], y[N];

LOOP(forward, y[i] = 0.5 * x[i])
LOOP(backward, x[i] += 0.1 * y[i])

static void pass(void)
{
	for (int layer = 0; layer < 3; layer++)
		forward();
	for (int layer = 0; layer < 3; layer++)
		backward();
}

static void step(const char *name)
{
	traceprof_push(name);
	x[0] += y[1];
	traceprof_pop();
}

static int twins(void)
{
	for (int i = 0; i < 60 * 5; i++) {
		if (i % 5 == 1 || i % 5 == 4)
			step("Optimizer.step#SGD.step");
		else
			pass();
	}
	printf("%g\n", x[0]);
	return 0;
}

static int rivals(int passes)
{
	for (int batch = 0; batch < 60; batch++) {
		for (int i = 0; i < passes + 1; i++) {
			pass();
			if (!i)
				step("Optimizer.step#RMSprop.step");
		}
		step("Optimizer.step#Adam.step");
	}
	printf("%g\n", x[0]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "twins"))
		return twins();
	if (argc > 1 && !strcmp(argv[1], "rivals"))
		return rivals(argc > 2 ? atoi(argv[2]) : 1);

	const int kinds = argc > 1 ? atoi(argv[1]) : 1;
	const int often = argc > 2 ? atoi(argv[2]) : 1;

	const int epochs = argc > 3 ? atoi(argv[3]) : 5;

	for (int epoch = 0; epoch < epochs; epoch++) {
		for (int batch = 0; batch < 20; batch++) {
			pass();
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
