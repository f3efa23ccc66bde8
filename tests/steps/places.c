/* SPDX-License-Identifier: MIT */
/*
 * places.c - six more programs of kinds that the corpus had not, with the steps
 * that a person would name written down before the first run:
 *
 *	inference	64	tokens of a network with one product for all
 *	factors		45	iterations that solve for rows, then columns
 *	codec		70	pictures of a film, every eighth a whole one
 *	waves		220	time steps of finite differences, leapfrog
 *	filter		90	measurements of a particle filter
 *	subspace	36	iterations for the lowest eigenvectors
 *
 *	places NAME
 */
#define N 8192
#include "programs.h"

static double x[N], y[N], v[N], w[N];

/* --- one product, called for each matrix ---------------------------------- */

LOOP(product, y[i] = 0.5 * x[i] + 0.25 * x[i - 1])

__attribute__((noinline)) static void attend(void)
{
	product();
	x[1] += y[2];
	product();
	x[2] += y[3];
	product();
	x[3] += y[4];
}

__attribute__((noinline)) static void feed_forward(void)
{
	product();
	x[4] += y[5];
	product();
	x[5] += y[6];
}

static int inference(void)
{
	for (int token = 0; token < 64; token++) {
		for (int layer = 0; layer < 6; layer++) {
			attend();
			feed_forward();
		}
		product();
		x[6] = y[7];
	}
	return 64;
}

/* --- one solver for two sides --------------------------------------------- */

LOOP(solve_side, v[i] = 0.9 * v[i] + 0.1 * w[i])

__attribute__((noinline)) static void half(double *from)
{
	solve_side();
	from[0] += v[1];
}

static int factors(void)
{
	for (int i = 0; i < 45; i++) {
		half(x);
		w[1] += 1;
		half(y);
		w[2] += 1;
	}
	return 45;
}

/* --- others --------------------------------------------------------------- */

LOOP(colours, w[i] = 0.3 * x[i] + 0.6 * y[i])
LOOP(intra, v[i] = w[i] - w[i - 1])
LOOP(motion, v[i] = fabs(w[i] - y[i]))
LOOP(refine, v[i] = fmin(v[i], v[i + 1]))
LOOP(quantise, v[i] = floor(v[i] * 8))
LOOP(deblock, w[i] = 0.5 * (w[i] + w[i + 1]))

static int codec(void)
{
	for (int picture = 0; picture < 70; picture++) {
		colours();
		if (picture % 8 == 0) {
			intra();
		} else {
			motion();
			refine();
			refine();
		}
		quantise();
		deblock();
	}
	return 70;
}

LOOP(strain, v[i] += 0.1 * (x[i + 1] - x[i]))
LOOP(stress, x[i] += 0.1 * (v[i] - v[i - 1]))
LOOP(sponge, x[i] *= 0.999)
SUM(seismogram, x[i])

static int waves(void)
{
	for (int t = 0; t < 220; t++) {
		strain();
		stress();
		sponge();
		if (t % 7 == 0)
			w[t % N] = seismogram();
	}
	return 220;
}

LOOP(predict, x[i] += 0.01 * sin(i + y[i]))
LOOP(weigh, w[i] = exp(-x[i] * x[i]))
SUM(total, w[i])
LOOP(resample, y[i] = x[i] * w[i])

/* Draws anew where the weights are uneven, which is now and then. */
static int filter(void)
{
	unsigned int state = 3;

	for (int t = 0; t < 90; t++) {
		predict();
		weigh();
		v[0] = total();
		state = state * 1103515245u + 12345u;
		if ((state >> 16) % 3 == 0)
			resample();
	}
	return 90;
}

LOOP(apply, y[i] = 2 * x[i] - x[i - 1] - x[i + 1])
SUM(overlap, x[i] * y[i])
LOOP(rotate, x[i] = 0.9 * x[i] + 0.1 * y[i])
LOOP(precondition, v[i] = y[i] / (1 + i))

static int subspace(void)
{
	for (int i = 0; i < 36; i++) {
		for (int k = 0; k < 4; k++)
			apply();
		for (int k = 0; k < 10; k++)
			w[k] = overlap();
		for (int k = 0; k < 4; k++)
			rotate();
		precondition();
	}
	return 36;
}

static const struct program programs[] = {
	{"inference", inference, 0}, {"factors", factors, 0},
	{"codec", codec, 0},	     {"waves", waves, 0},
	{"filter", filter, 0},	     {"subspace", subspace, 0},
};

int main(int argc, char **argv)
{
	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
