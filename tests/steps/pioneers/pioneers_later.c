/* SPDX-License-Identifier: MIT */
/*
 * pioneers_later.c - more of pioneers.c, written once rules had been set on
 * half of those: searches, retries, lengths of any kind.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, WIDE = 40 };

static double a[N], b[N], c[N], d[N], e[N], x[N], y[N], weights[WIDE * WIDE],
	slopes[WIDE * WIDE], history[8][2][N];
static int chosen[N];

static double noise(void)
{
	return rand() / (double)RAND_MAX;
}

static double dot(const double *u, const double *v)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += u[i] * v[i];
	return sum;
}

static void axpy(double by, const double *u, double *v)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		v[i] += by * u[i];
}

/* --- L-BFGS, as far along each way as needed --- */

static double rosenbrock(const double *at, double *gradient)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N - 1; i++)
		sum += 10 * pow(at[i + 1] - at[i] * at[i], 2) +
		       pow(1 - at[i], 2);
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		gradient[i] = 20 * (at[i] - at[i - 1] * at[i - 1]) -
			      40 * at[i] * (at[i + 1] - at[i] * at[i]) -
			      2 * (1 - at[i]);
	return sum;
}

int newton(void)
{
	double now, alpha[8];
	int turn = 0;

	for (int i = 0; i < N; i++)
		x[i] = -1 + noise();
	now = rosenbrock(x, a);
	while (turn < 80) {
		const int kept = turn < 8 ? turn : 8;
		double far = 1, next;

		memcpy(d, a, sizeof(d));
		for (int k = kept - 1; k >= 0; k--) {
			const int at = (turn - kept + k) % 8;

			alpha[k] = dot(history[at][0], d) /
				   (dot(history[at][0], history[at][1]) + 1e-9);
			axpy(-alpha[k], history[at][1], d);
		}
		for (int k = 0; k < kept; k++) {
			const int at = (turn - kept + k) % 8;
			const double beta =
				dot(history[at][1], d) /
				(dot(history[at][0], history[at][1]) + 1e-9);

			axpy(alpha[k] - beta, history[at][0], d);
		}
		memcpy(y, x, sizeof(y));
		axpy(-far * 1e-2, d, y);
		while ((next = rosenbrock(y, b)) > now && far > 1e-4) {
			far /= 2;
			memcpy(y, x, sizeof(y));
			axpy(-far * 1e-2, d, y);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			history[turn % 8][0][i] = y[i] - x[i];
			history[turn % 8][1][i] = b[i] - a[i];
			x[i] = y[i];
			a[i] = b[i];
		}
		now = next;
		if (++turn % 16 == 0)
			printf("%d: %f\n", turn, now);
	}
	return turn;
}

/* --- a network of two layers, and what trains it --- */

static void layer(const double *in, double *out)
{
#pragma omp parallel for
	for (int o = 0; o < WIDE; o++) {
		double sum = 0;

		for (int i = 0; i < WIDE; i++)
			sum += weights[o * WIDE + i] * in[i];
		out[o] = tanh(sum);
	}
}

static void learn(double rate)
{
	layer(x, y);
	layer(y, a);
#pragma omp parallel for
	for (int o = 0; o < WIDE; o++)
		b[o] = a[o] - c[o];
#pragma omp parallel for
	for (int i = 0; i < WIDE * WIDE; i++)
		slopes[i] = 0.9 * slopes[i] + b[i / WIDE] * y[i % WIDE];
#pragma omp parallel for
	for (int i = 0; i < WIDE * WIDE; i++)
		weights[i] -= rate * slopes[i];
}

static double validate(void)
{
	double loss = 0;

	for (int k = 0; k < 4; k++) {
		layer(x, y);
		layer(y, a);
#pragma omp parallel for reduction(+ : loss)
		for (int o = 0; o < WIDE; o++)
			loss += fabs(a[o] - c[o]);
	}
	return loss;
}

/* The rate falls where the loss stays, and the best is kept. */
int plateau(void)
{
	double best = 1e9, rate = 0.1;
	int batches = 0, since = 0;

	printf("before: %f\n", validate());
	for (int epoch = 0; epoch < 9; epoch++) {
		for (int k = 0; k < 17; k++, batches++) {
			for (int i = 0; i < WIDE; i++)
				x[i] = noise();
			learn(rate);
		}
		const double loss = validate();

		since = loss < best ? 0 : since + 1;
		if (loss < best) {
			best = loss;
#pragma omp parallel for
			for (int i = 0; i < WIDE * WIDE; i++)
				d[i] = weights[i];
		} else if (since == 2) {
			rate /= 2;
		}
		printf("%d: %f, rate %f\n", epoch, loss, rate);
	}
	return batches;
}

/* 24 settings, each until it gets no better. */
int settings(void)
{
	int trial = 0, batches = 0;

	for (; trial < 24; trial++) {
		const int patience = 5 + rand() % 25;

#pragma omp parallel for
		for (int i = 0; i < WIDE * WIDE; i++)
			weights[i] = sin(i * (trial + 1.0));
		for (int k = 0; k < patience; k++, batches++)
			learn(0.1 / (trial + 1));
		printf("%d: %f\n", trial, validate());
	}
	printf("batches %d\n", batches);
	return trial;
}

/* Sentences of 12 to 60 words, four of about a length together. */
int sentences(void)
{
	int batch = 0;

	for (int epoch = 0; epoch < 4; epoch++) {
		for (int k = 0; k < 20; k++, batch++) {
			const int words = 12 + rand() % 49;

			for (int t = 0; t < words; t++)
				layer(x, x);
			for (int t = words - 1; t >= 0; t--) {
#pragma omp parallel for
				for (int i = 0; i < WIDE * WIDE; i++)
					slopes[i] += x[i % WIDE] * t * 1e-6;
			}
#pragma omp parallel for
			for (int i = 0; i < WIDE * WIDE; i++) {
				weights[i] -= 1e-3 * slopes[i];
				slopes[i] = 0;
			}
		}
		for (int t = 0; t < 30; t++)
			layer(x, x);
		printf("%d: %f\n", epoch, x[0]);
	}
	return batch;
}

/* Proximal policy: what was seen is learned from until the policy has moved
 * too far. */
int proximal(void)
{
	int turn = 0, batches = 0;

	for (; turn < 30; turn++) {
		double moved = 0;

		for (int t = 0; t < 32; t++) {
			layer(x, y);
#pragma omp parallel for
			for (int i = 0; i < WIDE; i++)
				x[i] = 0.9 * x[i] + 0.1 * y[i];
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			e[i] = y[i % WIDE] - x[i % WIDE];
		for (int epoch = 0; epoch < 4 && moved < 0.7; epoch++) {
			for (int k = 0; k < 4; k++, batches++)
				learn(1e-3);
			moved += noise() / 2;
		}
		printf("%d: %f\n", turn, moved);
	}
	printf("batches %d\n", batches);
	return turn;
}

/* --- solvers --- */

static int solve(double *to, double goal)
{
	double size, next;
	int k = 0;

	memset(to, 0, N * sizeof(*to));
	memcpy(d, b, sizeof(d));
	memcpy(c, b, sizeof(c));
	size = dot(c, c);
	goal *= size;
	while (size > goal && k++ < 90) {
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			e[i] = 2.3 * d[i] - d[i - 1] - d[i + 1];
		const double alpha = size / (dot(d, e) + 1e-30);

		axpy(alpha, d, to);
		axpy(-alpha, e, c);
		next = dot(c, c);
		for (int i = 0; i < N; i++)
			d[i] = c[i] + next / size * d[i];
		size = next;
	}
	return k;
}

/* Points and cameras: a step is tried with more damping until the error falls.
 */
int bundle(void)
{
	double lambda = 1e-3;
	int turn = 0, tried = 0;

	for (int i = 0; i < N; i++)
		x[i] = noise();
	while (turn < 40) {
		double before = 0, after = 0;

#pragma omp parallel for reduction(+ : before)
		for (int i = 0; i < N; i++) {
			a[i] = sin(x[i]) - 0.3;
			before += a[i] * a[i];
		}
		while (1) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				b[i] = -a[i] * cos(x[i]) / (1 + lambda);
			solve(y, 1e-6 * (1 + turn % 3));
			after = 0;
#pragma omp parallel for reduction(+ : after)
			for (int i = 0; i < N; i++)
				after += pow(sin(x[i] + 0.1 * y[i]) - 0.3, 2);
			tried++;
			if (rand() % 3 || lambda > 1e3)
				break;
			lambda *= 4;
		}
		axpy(0.1, y, x);
		lambda /= 3;
		printf("%d: %f %f\n", ++turn, before, after);
	}
	printf("tries %d\n", tried);
	return turn;
}

/* A load in 20 parts: Newton's steps, and stresses that are put back. */
int plastic(void)
{
	int part = 0;

	memset(x, 0, sizeof(x));
	for (; part < 20; part++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = 0.01 * (part + 1) * sin(i * 0.01);
		for (int k = 0; k < 2 + rand() % 5; k++) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				b[i] = a[i] - x[i] * fabs(x[i]);
			solve(y, 1e-5);
			axpy(0.5, y, x);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			x[i] = fmin(2, fmax(-2, x[i]));
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			chosen[i] = fabs(x[i]) == 2;
		printf("%d: %f\n", part, x[N / 2]);
	}
	return part;
}

/* --- sequences, graphs, spins --- */

/* Hidden states of 8 sequences of any length, forward and back: 15 turns. */
int hidden(void)
{
	static const int length[8] = {30, 44, 25, 61, 38, 52, 29, 47};
	int turn = 0;

	for (; turn < 15; turn++) {
		double likely = 0;

		for (int s = 0; s < 8; s++) {
			for (int t = 0; t < length[s]; t++)
				layer(x, x);
			for (int t = length[s] - 1; t >= 0; t--) {
#pragma omp parallel for
				for (int i = 0; i < WIDE; i++)
					y[i] = y[(i + 1) % WIDE] * 0.5 + x[i];
			}
#pragma omp parallel for reduction(+ : likely)
			for (int i = 0; i < WIDE; i++)
				likely += x[i] * y[i];
		}
#pragma omp parallel for
		for (int i = 0; i < WIDE * WIDE; i++)
			weights[i] = 0.9 * weights[i] + 0.01 * x[i % WIDE];
		printf("%d: %f\n", turn, likely);
	}
	return turn;
}

/* Who lies between others: from 40 sources outward, and back. */
int between(void)
{
	int source = 0;

	for (; source < 40; source++) {
		int level = 0, found = 1;

#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			chosen[i] = i == source * 71 % N ? 0 : -1;
			a[i] = 0;
		}
		for (; found; level++) {
			found = 0;
#pragma omp parallel for reduction(+ : found)
			for (int i = 0; i < N; i++) {
				const int to = (i * 7 + source) % N;
				const int too = (i * 3 + 11) % N;

				if (chosen[i] >= 0 || rand() % 4 == 0 ||
				    (chosen[to] != level &&
				     chosen[too] != level))
					continue;
				chosen[i] = level + 1;
				found++;
			}
		}
		for (; level > 0; level--) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				a[i] += chosen[i] == level;
		}
		axpy(1, a, b);
	}
	printf("%f\n", b[0]);
	return source;
}

/* Spins get colder 60 times, each time until enough have turned. */
int cooling(void)
{
	int temperature = 0, sweeps = 0;

	for (; temperature < 60; temperature++) {
		int turned = 0;

		for (int k = 0; k < 30 && turned < 4000; k++, sweeps++) {
#pragma omp parallel for reduction(+ : turned)
			for (int i = 0; i < N; i += 2)
				turned += (i * 37 + k + temperature) % 5 == 0;
#pragma omp parallel for reduction(+ : turned)
			for (int i = 1; i < N; i += 2)
				turned += (i * 41 + k) % (3 + temperature) == 0;
		}
		printf("%d: %d\n", temperature, turned);
	}
	printf("batches %d\n", sweeps);
	return temperature;
}

/* --- trees that grow where most is gained, 31 leaves at most --- */

int leaves(void)
{
	int round = 0;

	for (; round < 50; round++) {
		const int grown = 8 + rand() % 24;

#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			a[i] = y[i] - 0.1 * x[i];
			chosen[i] = 0;
		}
		for (int leaf = 1; leaf < grown; leaf++) {
#pragma omp parallel for
			for (int k = 0; k < 32; k++) {
				e[k] = 0;
				for (int i = k; i < N; i += 32)
					e[k] += chosen[i] == leaf / 2 ? a[i]
								      : 0;
			}
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				chosen[i] = chosen[i] == leaf / 2 && i % 2
						    ? leaf
						    : chosen[i];
		}
		axpy(0.1, a, x);
		if (round % 10 == 9)
			printf("%d: %f\n", round, sqrt(dot(a, a)));
	}
	return round;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
