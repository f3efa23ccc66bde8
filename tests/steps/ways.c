/* SPDX-License-Identifier: MIT */
/*
 * ways.c - a booster that draws rows from its tenth round on, in the middle of
 * a round, as LightGBM's GOSS does; two loops of one function end a round:
 *
 *	ways sampled [ROUNDS]
 *
 * -DTOLD: each round ends with a range as PyTorch's optimizers make one.
 */
#define N 4096
#include "programs.h"

#include "traceprof.h"

static double x[N], y[N], v[N], w[N];

LOOP(gradients, v[i] = x[i] - y[i])
LOOP(draw, w[i] = v[i] > 0.1)
LOOP(histograms, w[i] += v[i])
SUM(best_split, w[i] * w[i])
LOOP(move_rows, x[i] += 0.1 * w[i])
LOOP(prepare, w[i] = 0)

__attribute__((noinline)) static void predict(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		y[i] += 0.1 * x[i];
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		v[i] = 0;
}

static int sampled(void)
{
	for (int i = 0; i < size; i++) {
		gradients();
		if (i >= 10)
			draw();
		prepare();
		for (int split = 0; split < 14 + i % 3; split++) {
			histograms();
			x[0] = best_split();
			move_rows();
		}
		predict();
#ifdef TOLD
		traceprof_push("Optimizer.step#GOSS.step");
		traceprof_pop();
#endif
	}
	return size;
}

static const struct program programs[] = {{"sampled", sampled, 50}};

int main(int argc, char **argv)
{
	return run_named(argc, argv, programs, 1);
}
