/* SPDX-License-Identifier: MIT */
/*
 * fresh.c - programs with the steps that a person would name written down
 * before the first run; a rule was set on index, none on the others:
 *
 *	waves		200	time steps of waves, their energy each 20
 *	runge		150	time steps of four stages each
 *	redblack	90	iterations of two colours and a residual
 *	labels		40	rounds on a graph, of any number of passes
 *	logistic	100	batches in 4 epochs, each tested
 *	align		40	pairs of texts, of any number of diagonals
 *	poisson		120	time steps, three passes there and back
 *	baum		20	iterations, 50 steps forward, 50 back
 *	index		30	additions to 15 levels, large and small
 *
 *	fresh NAME
 */
#define N 8192
#include "programs.h"

static double x[N], y[N], v[N], w[N];

LOOP(laplacian, w[i] = x[i - 1] - 2 * x[i] + x[i + 1])
LOOP(leap, y[i] = 1.9 * x[i] - y[i] + 0.1 * w[i])
LOOP(absorb, x[i] = 0.999 * y[i])
SUM(energy, x[i] * x[i] + w[i] * w[i])

static int waves(void)
{
	for (int i = 0; i < size; i++) {
		laplacian();
		leap();
		absorb();
		if (i % 20 == 0)
			v[0] = energy();
	}
	return size;
}

LOOP(slope, w[i] = sin(y[i]) - 0.1 * y[i])
LOOP(stage, y[i] = x[i] + 0.01 * w[i])
LOOP(combine, x[i] += 0.01 * w[i])

static int runge(void)
{
	for (int i = 0; i < size; i++) {
		for (int s = 0; s < 4; s++) {
			slope();
			stage();
		}
		combine();
	}
	return size;
}

LOOP(red, x[i] = 0.5 * (y[i - 1] + y[i + 1]))
LOOP(black, y[i] = 0.5 * (x[i - 1] + x[i + 1]))
SUM(misfit, fabs(x[i] - y[i]))

static int redblack(void)
{
	for (int i = 0; i < size; i++) {
		red();
		black();
		v[0] = misfit();
	}
	return size;
}

LOOP(seed, v[i] = i * 7 % 113)
LOOP(spread, w[i] = fmin(v[i], fmin(v[i - 1], v[i + 1])))
SUM(moved, v[i] != w[i])
LOOP(settle, v[i] = w[i])
SUM(quality, v[i] * x[i])

static int labels(void)
{
	for (int i = 0; i < size; i++) {
		seed();
		for (int pass = 0; pass < 3 + i * 5 % 7; pass++) {
			spread();
			y[0] = moved();
			settle();
		}
		y[1] = quality();
	}
	return size;
}

LOOP(predict, y[i] = 1 / (1 + exp(-x[i])))
LOOP(gradient, w[i] = y[i] - v[i])
LOOP(adam, x[i] -= 0.01 * w[i])
SUM(loss, fabs(w[i]))

static int logistic(void)
{
	for (int epoch = 0; epoch < 4; epoch++) {
		for (int batch = 0; batch < size / 4; batch++) {
			predict();
			gradient();
			adam();
		}
		for (int batch = 0; batch < 6; batch++) {
			predict();
			v[0] += loss();
		}
	}
	return size;
}

LOOP(blank, x[i] = 0)
LOOP(diagonal, x[i] = fmax(x[i - 1], y[i] + 1))
SUM(score, x[i])

static int align(void)
{
	for (int pair = 0; pair < size; pair++) {
		blank();
		for (int d = 0; d < 20 + pair * 11 % 31; d++)
			diagonal();
		v[0] += score();
	}
	return size;
}

LOOP(transform, w[i] = x[i] + x[N - 1 - i])
LOOP(transpose, x[i] = w[(i * 3) % N])
LOOP(divide, x[i] /= 1 + i)
LOOP(advect, x[i] = 0.9 * x[i] + 0.1 * v[i])

static int poisson(void)
{
	for (int i = 0; i < size; i++) {
		for (int d = 0; d < 3; d++) {
			transform();
			transpose();
		}
		divide();
		for (int d = 0; d < 3; d++) {
			transform();
			transpose();
		}
		advect();
	}
	return size;
}

LOOP(forward, x[i] = 0.5 * x[i - 1] + v[i])
LOOP(backward, y[i] = 0.5 * y[i + 1] + v[i])
LOOP(expect_states, w[i] = x[i] * y[i])
LOOP(reestimate, v[i] = w[i] / (1 + w[i]))

static int baum(void)
{
	for (int i = 0; i < size; i++) {
		for (int t = 0; t < 50; t++)
			forward();
		for (int t = 0; t < 50; t++)
			backward();
		expect_states();
		reestimate();
	}
	return size;
}

static void nodes(int count)
{
#pragma omp parallel if (count > 100)
	x[1] += count > 200;
#pragma omp parallel for if (count > 100)
	for (int i = 1; i < N - 1; i++)
		y[i] += i < count;
}

/* As a library that an interpreter calls: the code tells nothing. */
static int (*volatile many_levels)(void);

static int add(void)
{
	for (int level = 14; level >= 0; level--)
		nodes(level > 2 ? level : 1000 >> level);
	return 1;
}

static int index_of(void)
{
	int added = 0;

	many_levels = add;
	for (int i = 0; i < size; i++)
		added += many_levels();
	return added;
}

int main(int argc, char **argv)
{
	static const struct program programs[] = {
		{"waves", waves, 200},	     {"runge", runge, 150},
		{"redblack", redblack, 90},  {"labels", labels, 40},
		{"logistic", logistic, 100}, {"align", align, 40},
		{"poisson", poisson, 120},   {"baum", baum, 20},
		{"index", index_of, 30},
	};

	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
