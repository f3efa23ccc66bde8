/* SPDX-License-Identifier: MIT */
/*
 * latecomers.c - as newcomers.c, written when its rules were set:
 *
 *	bert		40	batches of 6 layers, scored each 8
 *	mcts		30	moves of 50 playouts, and an update
 *	kalman		90	observations, an ensemble of forecasts
 *	topics		35	iterations of two passes, words and documents
 *	sequence	24	restarts of a search; or its iterations
 *	vae		75	batches; then 40 samples of the decoder
 *	multistep	110	time steps, 4 stages and a filter each 11
 *	eigen		18	outer iterations; or their products
 *	crawl		55	rounds of a frontier that grows and shrinks
 *	warm		100	sweeps that measure, after 25 that don't; or 125
 *	twins		none	60 batches of one model, 60 of another; or 60
 *	boost		32	rounds of 12 splits, an error on a held-out part
 *	pipeline	48	blocks, each filtered 5 times and written
 *	cross		40	generations of 16 trials; or 640
 *
 *	latecomers NAME
 */
#define N 4096
#include "programs.h"

static double a[N], b[N], c[N], d[N], w[N], g[N];

static unsigned int seed = 99;

static unsigned int roll(unsigned int below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

LOOP(embed, a[i] = w[i] * 0.5)
LOOP(project, b[i] = a[i] * w[i])
LOOP(softmax, c[i] = exp(-fabs(b[i])))
LOOP(mix, a[i] = 0.5 * (a[i] + c[i]))
LOOP(widen, b[i] = a[i] > 0 ? a[i] : 0)
LOOP(slope_mix, g[i] = d[i] * c[i])
LOOP(slope_widen, d[i] = g[i] * (b[i] > 0))
LOOP(adam, w[i] -= 1e-3 * g[i])
SUM(loss, a[i] * a[i])
SUM(score, a[i] > 0.1)

static void bert_forward(void)
{
	embed();
	for (int layer = 0; layer < 6; layer++) {
		project();
		softmax();
		mix();
		widen();
	}
}

static int bert(void)
{
	for (int batch = 0; batch < size; batch++) {
		bert_forward();
		loss();
		for (int layer = 0; layer < 6; layer++) {
			slope_mix();
			slope_widen();
		}
		adam();
		if ((batch + 1) % 8 == 0) {
			for (int i = 0; i < 2; i++) {
				bert_forward();
				score();
			}
		}
	}
	return size;
}

static int mcts(void)
{
	for (int move = 0; move < size; move++) {
		for (int playout = 0; playout < 50; playout++) {
			project();
			softmax();
		}
		slope_mix();
		adam();
	}
	return size;
}

LOOP(forecast, a[i] += 0.1 * sin(a[i]))
SUM(mean, a[i])
LOOP(anomaly, b[i] = a[i] - d[0])
SUM(spread, b[i] * b[i])
LOOP(analysis, a[i] -= 0.5 * b[i])

static int kalman(void)
{
	for (int t = 0; t < size; t++) {
		for (int k = 0; k < 3; k++)
			forecast();
		d[0] = mean() / N;
		anomaly();
		if (spread() < 0)
			return 0;
		analysis();
	}
	return size;
}

LOOP(words, b[i] = a[i] * w[i] + 0.01)
LOOP(documents, c[i] = b[i] / (1 + b[i]))
SUM(perplexity, log(fabs(c[i]) + 1))
LOOP(normalize, w[i] = c[i] * 0.9)

static int topics(void)
{
	for (int it = 0; it < size; it++) {
		words();
		documents();
		words();
		documents();
		normalize();
		if (it % 5 == 4)
			printf("%g\n", perplexity());
	}
	return size;
}

static int total;

LOOP(scatter, a[i] = (i * 13 % 101) * 0.01)
LOOP(improve, a[i] += 0.1 * (a[i - 1] - a[i]))
SUM(cost, fabs(a[i]))
LOOP(keep, d[i] = fmin(d[i], a[i]))

static int sequence(void)
{
	for (int restart = 0; restart < 24; restart++) {
		const int most = 8 + (int)roll(8);

		scatter();
		for (int i = 0; i < most; i++) {
			improve();
			cost();
			total++;
		}
		keep();
	}
	printf("%d searched\n", total);
	return 24;
}

LOOP(encode, b[i] = tanh(a[i] * w[i]))
LOOP(sample, c[i] = b[i] + 0.01 * (i % 5))
LOOP(decode, d[i] = tanh(c[i] * w[i]))
SUM(evidence, (d[i] - a[i]) * (d[i] - a[i]))
LOOP(decode_slope, g[i] = d[i] - a[i])
LOOP(encode_slope, g[i] *= 1 - b[i] * b[i])
LOOP(paint, a[i] = d[i] * 255)

static int vae(void)
{
	for (int batch = 0; batch < size; batch++) {
		encode();
		sample();
		decode();
		evidence();
		decode_slope();
		encode_slope();
		adam();
	}
	for (int picture = 0; picture < 40; picture++) {
		sample();
		decode();
		paint();
	}
	return size;
}

LOOP(tendency, b[i] = a[i + 1] - 2 * a[i] + a[i - 1])
LOOP(stage, c[i] = a[i] + 0.1 * b[i])
LOOP(combine, a[i] = c[i])
LOOP(filter, a[i] = 0.98 * a[i])

static int multistep(void)
{
	for (int t = 1; t <= size; t++) {
		for (int k = 0; k < 4; k++) {
			tendency();
			stage();
		}
		combine();
		if (t % 11 == 0)
			filter();
	}
	return size;
}

LOOP(product, b[i] = 2 * a[i] - a[i - 1] - a[i + 1])
SUM(overlap, a[i] * b[i])
LOOP(orthogonal, b[i] -= 0.1 * a[i])
LOOP(rotate, a[i] = 0.9 * a[i] + 0.1 * b[i])
SUM(residual, b[i] * b[i])

static int eigen(void)
{
	for (int it = 0; it < 18; it++) {
		const int most = 12 + (int)roll(9);

		for (int k = 0; k < most; k++) {
			product();
			overlap();
			orthogonal();
			total++;
		}
		rotate();
		residual();
	}
	printf("%d products\n", total);
	return 18;
}

static int crawl(void)
{
	for (int round = 0; round < size; round++) {
		const int wide = 64 + (int)roll(N - 128);
		double found = 0;

#pragma omp parallel for schedule(dynamic, 32)
		for (int i = 0; i < wide; i++)
			b[i] = a[(i * 31) % N];
#pragma omp parallel for reduction(+ : found)
		for (int i = 0; i < wide; i++)
			found += b[i] > 0.5;
		if (found > 0) {
#pragma omp parallel for
			for (int i = 0; i < wide; i++)
				a[i] = b[i] * 0.99;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] += 0.02;
	}
	return size;
}

LOOP(even, a[i] = tanh(a[i - 1] + a[i + 1]))
LOOP(odd, b[i] = tanh(a[i]))
SUM(magnet, a[i])
SUM(energy, a[i] * b[i])

static int warm(void)
{
	for (int sweep = 0; sweep < 125; sweep++) {
		even();
		odd();
		if (sweep >= 25) {
			magnet();
			energy();
		}
	}
	return 100;
}

static int twins(void)
{
	for (int batch = 0; batch < 60; batch++) {
		encode();
		decode();
		evidence();
		decode_slope();
		adam();
	}
	for (int batch = 0; batch < 60; batch++) {
		project();
		softmax();
		loss();
		slope_mix();
		slope_widen();
		normalize();
	}
	return 0;
}

LOOP(gradients, g[i] = a[i] - d[i])
LOOP(histogram, b[i] = g[i] * (i % 16))
SUM(best_split, b[i])
LOOP(part, c[i] = b[i] > 0)
LOOP(add_tree, d[i] += 0.1 * c[i])
SUM(held_out, fabs(d[i]))

static int boost(void)
{
	for (int round = 0; round < size; round++) {
		gradients();
		for (int split = 0; split < 12; split++) {
			histogram();
			best_split();
			part();
		}
		add_tree();
		held_out();
	}
	return size;
}

static int pipeline(void)
{
	for (int block = 0; block < size; block++) {
		scatter();
		for (int pass = 0; pass < 5; pass++)
			improve();
		normalize();
		paint();
	}
	return size;
}

LOOP(mutate, a[i] = w[i] + 0.01 * (i % 3))
SUM(fitness, a[i] * a[i] - d[i])
LOOP(select_best, w[i] = 0.9 * w[i] + 0.1 * a[i])
LOOP(cross_over, d[i] = 0.5 * (d[i] + w[i]))

static int cross(void)
{
	for (int generation = 0; generation < 40; generation++) {
		for (int trial = 0; trial < 16; trial++) {
			mutate();
			fitness();
		}
		select_best();
		cross_over();
	}
	return 40;
}

int main(int argc, char **argv)
{
	static const struct program programs[] = {
		{"bert", bert, 40},
		{"mcts", mcts, 30},
		{"kalman", kalman, 90},
		{"topics", topics, 35},
		{"sequence", sequence, 0},
		{"vae", vae, 75},
		{"multistep", multistep, 110},
		{"eigen", eigen, 0},
		{"crawl", crawl, 55},
		{"warm", warm, 0},
		{"twins", twins, 0},
		{"boost", boost, 32},
		{"pipeline", pipeline, 48},
		{"cross", cross, 0},
	};

	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
