/* SPDX-License-Identifier: MIT */
/*
 * travellers.c - small programs, written as people write them, for the third
 * set that no rule was set on; the number behind each is its steps, written
 * down before its first run:
 *
 *	darknet		64	batches of 4 images, one product for all
 *	lattice3	180	time steps, an output each 30
 *	euler		140	time steps of three stages, a largest speed
 *	minimd		300	time steps, neighbors each 20
 *	amg		30	conjugate gradients with cycles of 4 levels
 *	tree		60	time steps of bodies in a tree
 *	strata		20	epochs of 4 strata and an error
 *	kinetic		250	events: rates, one picked, what it changes
 *	gru		45	sequences of 16 time steps, forward and backward
 *	samples		32	passes of a ray tracer, an image each 8
 *	delta		50	iterations of ranks, as many edges as are active
 *	embed		12	epochs of word vectors, each tested
 *	flip		70	time steps of particles and 30 of Jacobi in each
 *	swarm		120	rounds of particles, the best kept
 *
 *	travellers NAME
 */
#define N 4096
#include "programs.h"

static double a[N], b[N], c[N], d[N], e[N], g[N];

static void gemm(const double *left, double *out, double scale)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		out[i] += scale * left[(i * 7) % N];
}

LOOP(im2col, b[i] = a[(i * 3) % N])
LOOP(activate, c[i] = c[i] > 0 ? c[i] : 0.1 * c[i])
LOOP(gradient_array, d[i] *= c[i] > 0 ? 1 : 0.1)
LOOP(update_weights, e[i] -= 1e-3 * d[i])

static int darknet(void)
{
	for (int batch = 0; batch < size; batch++) {
		for (int image = 0; image < 4; image++) {
			for (int layer = 0; layer < 3; layer++) {
				im2col();
				gemm(b, c, 0.1);
				activate();
			}
			for (int layer = 2; layer >= 0; layer--) {
				gradient_array();
				gemm(c, d, 0.1);
				if (layer)
					gemm(d, a, 0.01);
			}
		}
		for (int layer = 0; layer < 3; layer++)
			update_weights();
	}
	return size;
}

static int lattice3(void)
{
	for (int t = 0; t < size; t++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] = 0.9 * a[i] + 0.1;
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = b[(i + 1) % N];
#pragma omp parallel for
		for (int i = 0; i < 64; i++)
			a[i] = 0;
		if (t % 30 == 0) {
			double sum = 0;
#pragma omp parallel for reduction(+ : sum)
			for (int i = 0; i < N; i++)
				sum += a[i];
			c[0] = sum;
		}
	}
	return size;
}

static int euler(void)
{
	for (int t = 0; t < size; t++) {
		double fastest = 0;
#pragma omp parallel for reduction(max : fastest)
		for (int i = 0; i < N; i++)
			fastest = fmax(fastest, fabs(a[i]) + 1);
		for (int stage = 0; stage < 3; stage++) {
#pragma omp parallel for
			for (int i = 1; i < N; i++)
				b[i] = a[i] - a[i - 1];
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				a[i] -= 0.1 / fastest * b[i];
		}
	}
	return size;
}

SUM(energy, a[i] * a[i])
LOOP(integrate, a[i] += 1e-3 * b[i])
LOOP(build_neighbors, g[i] = a[(i * 5) % N])
LOOP(compute_force, b[i] = g[i] - a[i])

static int minimd(void)
{
	for (int t = 0; t < size; t++) {
		integrate();
		if (t % 20 == 0)
			build_neighbors();
		compute_force();
		integrate();
		if (t % 50 == 0)
			c[0] = energy();
	}
	return size;
}

SUM(dot_product, c[i] * d[i])
LOOP(smooth, a[i] = 0.5 * a[i] + 0.25 * (a[i - 1] + a[i + 1]))
LOOP(residual, b[i] = c[i] - a[i])
LOOP(restrict_down, e[i] = 0.5 * (b[i] + b[i - 1]))
LOOP(prolong, a[i] += 0.5 * e[i])
LOOP(matvec, d[i] = 2 * c[i] - c[i - 1])
LOOP(axpy, a[i] += 0.1 * c[i])
LOOP(xpay, c[i] = b[i] + 0.1 * c[i])

static int amg(void)
{
	residual();
	for (int k = 0; k < size; k++) {
		matvec();
		const double alpha = dot_product();
		axpy();
		residual();
		for (int level = 0; level < 4; level++) {
			smooth();
			smooth();
			restrict_down();
		}
		for (int level = 0; level < 4; level++) {
			prolong();
			smooth();
			smooth();
		}
		c[0] += alpha + dot_product();
		xpay();
	}
	return size;
}

LOOP(moments, b[i] = a[i] + a[i - 1])
LOOP(walk_tree, c[i] = b[i] - b[i + 1])
LOOP(kick_drift, a[i] += 1e-3 * c[i])

static int tree(void)
{
	for (int t = 0; t < size; t++) {
		for (int i = 0; i < 100; i++)
			a[i] += 1e-6;
		for (int level = 0; level < 7; level++)
			moments();
		walk_tree();
		kick_drift();
	}
	return size;
}

static int strata(void)
{
	for (int epoch = 0; epoch < size; epoch++) {
		for (int stratum = 0; stratum < 4; stratum++) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				a[i] += 1e-3 * (b[(i + stratum) % N] - a[i]);
		}
		double error = 0;
#pragma omp parallel for reduction(+ : error)
		for (int i = 0; i < N; i++)
			error += a[i] * a[i];
		c[0] = error;
	}
	return size;
}

static int kinetic(void)
{
	unsigned int dice = 1;

	for (int event = 0; event < size; event++) {
		double sum = 0;
#pragma omp parallel for reduction(+ : sum)
		for (int i = 0; i < N; i++)
			sum += a[i] = exp(-fabs(b[i]));
		dice = dice * 1103515245u + 12345u;
		const int at = (int)((dice >> 16) % N);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] += i > at ? 1e-3 : -1e-3;
		if ((dice >> 20) % 4 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				c[i] = b[i];
		}
	}
	return size;
}

LOOP(gates, b[i] = 1 / (1 + exp(-a[i])))
LOOP(candidate, c[i] = tanh(a[i] * b[i]))
LOOP(state, a[i] += b[i] * (c[i] - a[i]))
LOOP(back_gates, d[i] = b[i] * (1 - b[i]))
LOOP(back_state, e[i] += d[i])
LOOP(clip, e[i] = fmin(1, e[i]))
LOOP(adam, g[i] -= 1e-3 * e[i])

static int gru(void)
{
	for (int sequence = 0; sequence < size; sequence++) {
		for (int t = 0; t < 16; t++) {
			gates();
			candidate();
			state();
		}
		for (int t = 0; t < 16; t++) {
			back_gates();
			back_state();
		}
		clip();
		adam();
	}
	return size;
}

static int samples(void)
{
	for (int pass = 1; pass <= size; pass++) {
#pragma omp parallel for schedule(dynamic, 64)
		for (int i = 0; i < N; i++)
			a[i] = sin(i * pass);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] += a[i];
		if (pass % 8 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				c[i] = sqrt(fabs(b[i] / pass));
		}
	}
	return size;
}

static int delta(void)
{
	int active = N;

	for (int k = 0; k < size; k++) {
		double change = 0;
#pragma omp parallel for schedule(guided)
		for (int i = 0; i < active; i++)
			b[i] = 0.15 + 0.85 * a[(i * 3) % N];
#pragma omp parallel for reduction(+ : change)
		for (int i = 0; i < active; i++) {
			change += fabs(a[i] - b[i]);
			a[i] = b[i];
		}
		active = active > 64 ? active - 32 : active;
		c[0] = change;
	}
	return size;
}

static int embed(void)
{
	for (int epoch = 0; epoch < size; epoch++) {
#pragma omp parallel
		for (int i = 0; i < N; i++)
			a[i] += 1e-6;
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] = a[i] * a[i];
		double best = 0;
#pragma omp parallel for reduction(max : best)
		for (int i = 0; i < N; i++)
			best = fmax(best, b[i]);
		c[0] = best;
	}
	return size;
}

LOOP(to_grid, b[i] = a[i] + a[i - 1])
LOOP(divergence, c[i] = b[i + 1] - b[i - 1])
LOOP(jacobi, d[i] = 0.25 * (d[i - 1] + d[i + 1] + c[i]))
LOOP(subtract, b[i] -= 0.5 * (d[i + 1] - d[i - 1]))
LOOP(to_particles, a[i] += 1e-3 * b[i])
LOOP(advect, a[i] = fmod(a[i], 10))

static int flip(void)
{
	for (int t = 0; t < size; t++) {
		to_grid();
		divergence();
		for (int k = 0; k < 30; k++)
			jacobi();
		subtract();
		to_particles();
		advect();
	}
	return size;
}

static int swarm(void)
{
	double best = 1e9;

	for (int round = 0; round < size; round++) {
		double now = 1e9;
#pragma omp parallel for reduction(min : now)
		for (int i = 0; i < N; i++)
			now = fmin(now, a[i] * a[i] - cos(a[i]) + i * 1e-3);
		if (now < best - 1e-6) {
			best = now;
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				b[i] = a[i];
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] += 0.1 * (b[i] - a[i]) + 1e-3 * sin(round * i);
	}
	return size;
}

int main(int argc, char **argv)
{
	static const struct program programs[] = {
		{"darknet", darknet, 64}, {"lattice3", lattice3, 180},
		{"euler", euler, 140},	  {"minimd", minimd, 300},
		{"amg", amg, 30},	  {"tree", tree, 60},
		{"strata", strata, 20},	  {"kinetic", kinetic, 250},
		{"gru", gru, 45},	  {"samples", samples, 32},
		{"delta", delta, 50},	  {"embed", embed, 12},
		{"flip", flip, 70},	  {"swarm", swarm, 120}};

	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
