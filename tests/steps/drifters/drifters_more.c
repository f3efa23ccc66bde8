/* SPDX-License-Identifier: MIT */
/* drifters_more.c - more of drifters.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N    4096
#define SIDE 64

static double a[N], b[N], c[N], d[N], e[N], p[N], q[N], r[N], x[N], y[N];
static int label[N];

#define ALL(what)                                                              \
	_Pragma("omp parallel for") for (int i = 1; i < N - 1; i++) what

/* Plasma in cells: charges, 20 sweeps for the potential, field, push; the
 * particles are sorted each 25. */
int cells(void)
{
	for (int t = 0; t < 150; t++) {
		ALL(b[i] = 0);
		ALL(b[label[i]] += x[i]);
		for (int sweep = 0; sweep < 20; sweep++)
			ALL(c[i] = 0.5 * (c[i - 1] + c[i + 1] + b[i]));
		ALL(d[i] = c[i - 1] - c[i + 1]);
		ALL(y[i] += 0.01 * d[label[i]]);
		ALL(x[i] += 0.01 * y[i]);
		if (t % 25 == 24) {
			ALL(label[i] = abs((int)x[i]) % N);
			ALL(e[label[i]] = x[i]);
			ALL(x[i] = e[i]);
		}
	}
	return 150;
}

static void blur(double *u, double *v)
{
	ALL(v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3);
	ALL(u[i] = (v[i] + v[(i + SIDE) % N]) / 2);
}

/* Edges in 40 pictures: a pyramid, gradients, thin ones, and those that hang
 * together, until nothing changes. */
int edges(void)
{
	for (int picture = 0; picture < 40; picture++) {
		int left = 3 + rand() % 6;

		for (int i = 0; i < N; i++)
			a[i] = rand() % 256;
		ALL(b[i] = 0.3 * a[i] + 0.6 * a[i - 1] + 0.1 * a[i + 1]);
		for (int level = 0; level < 4; level++) {
			blur(b, c);
			ALL(p[i] += b[i]);
		}
		ALL(d[i] = fabs(p[i + 1] - p[i - 1]));
		ALL(e[i] = d[i] > d[i - 1] ? d[i] : 0);
		while (left--)
			ALL(label[i] |= label[i - 1] | label[i + 1]);
		printf("%d %g\n", picture, e[7]);
	}
	return 40;
}

static void conjugate(const double *from, double *to)
{
	for (int k = 0; k < 3; k++) {
		ALL(q[i] = 2 * from[i] - from[i - 1]);
		ALL(to[i] += 0.1 * (from[i] - q[i]));
	}
}

/* Factors of users and of items by turns, three conjugate gradients each; the
 * error after each third. */
int ratings(void)
{
	for (int turn = 0; turn < 18; turn++) {
		ALL(r[i] = y[i] * y[i]);
		conjugate(r, x);
		ALL(r[i] = x[i] * x[i]);
		conjugate(r, y);
		if (turn % 3 == 2) {
			double error = 0;

#pragma omp parallel for reduction(+ : error)
			for (int i = 0; i < N; i++)
				error += fabs(x[i] * y[i] - 1);
			printf("%d %g\n", turn, error);
		}
	}
	return 18;
}

/* Words' vectors: 500 batches, a loss each 100. */
int words(void)
{
	double loss = 0;

	for (int batch = 0; batch < 500; batch++) {
#pragma omp parallel for reduction(+ : loss)
		for (int i = 1; i < SIDE; i++) {
			const int at = (batch * 31 + i * 7) % N;

			a[at] += 0.01 * (b[i] - a[at]);
			loss += fabs(a[at]);
		}
		if (batch % 100 == 99) {
			printf("%d %g\n", batch, loss);
			loss = 0;
		}
	}
	return 500;
}

/* Variational Monte Carlo: 30 blocks of 20 moves of all walkers, a local
 * energy behind each move, and the block's mean. */
int walkers(void)
{
	for (int block = 0; block < 30; block++) {
		double energy = 0;

		for (int move = 0; move < 20; move++) {
			ALL(p[i] = x[i] + sin(i * move));
			ALL(x[i] = p[i] * p[i] < 9 ? p[i] : x[i]);
#pragma omp parallel for reduction(+ : energy)
			for (int i = 0; i < N; i++)
				energy += x[i] * x[i];
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			e[i] += x[i];
		printf("%d %g\n", block, energy);
	}
	return 600;
}

/* Reactions that spread: six stages and the error of each try, of which some
 * are refused. */
int spreading(void)
{
	int tries = 0;

	srand(3);
	for (int done = 0; done < 120; tries++) {
		double error = 0;

		memcpy(b, a, sizeof(b));
		for (int k = 0; k < 6; k++) {
			ALL(c[i] = b[i + 1] - 2 * b[i] + b[i - 1]);
			ALL(b[i] = a[i] + 0.01 * c[i]);
		}
#pragma omp parallel for reduction(max : error)
		for (int i = 0; i < N; i++)
			error = fmax(error, fabs(a[i] - b[i]));
		if (rand() % 7 == 0)
			continue;
		ALL(a[i] = b[i]);
		done++;
	}
	printf("tries %d\n", tries);
	return tries;
}

/* --- a network of convolutions, many small functions ---------------------- */

static void conv1(void)
{
	ALL(b[i] = a[i - 1] + a[i + 1]);
}
static void bias1(void)
{
	ALL(b[i] += 0.1);
}
static void relu1(void)
{
	ALL(b[i] = fmax(b[i], 0));
}
static void pool1(void)
{
	ALL(c[i] = fmax(b[i], b[i - 1]));
}
static void conv2(void)
{
	ALL(d[i] = c[i - 1] + c[i + 1]);
}
static void bias2(void)
{
	ALL(d[i] += 0.1);
}
static void relu2(void)
{
	ALL(d[i] = fmax(d[i], 0));
}
static void pool2(void)
{
	ALL(e[i] = fmax(d[i], d[i - 1]));
}
static void fc1(void)
{
	ALL(p[i] = e[i] * 0.5);
}
static void relu3(void)
{
	ALL(p[i] = fmax(p[i], 0));
}
static void fc2(void)
{
	ALL(q[i] = p[i] * 0.5);
}
static void softmax(void)
{
	ALL(q[i] = exp(-fabs(q[i])));
}

static double loss(void)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += q[i];
	return sum;
}

static double infer(void)
{
	conv1();
	bias1();
	relu1();
	pool1();
	conv2();
	bias2();
	relu2();
	pool2();
	fc1();
	relu3();
	fc2();
	softmax();
	return loss();
}

static void learn(void)
{
	ALL(r[i] = q[i] - 1);
	ALL(p[i] = r[i] * 0.5);
	ALL(y[i] = p[i] * p[i]);
	ALL(e[i] = p[i] * 0.5);
	ALL(d[i] = e[i] + e[i - 1]);
	ALL(x[i] = d[i] * d[i]);
	ALL(c[i] = d[i] + d[i + 1]);
	ALL(b[i] = c[i] + c[i - 1]);
	ALL(r[i] = b[i] * b[i]);
	ALL(a[i] -= 1e-3 * r[i]);
	ALL(a[i] -= 1e-3 * x[i]);
	ALL(a[i] -= 1e-3 * y[i]);
}

/* 96 batches, three tested behind each eighth. */
int digits(void)
{
	for (int batch = 0; batch < 96; batch++) {
		infer();
		learn();
		if (batch % 8 == 7) {
			double test = 0;

			for (int i = 0; i < 3; i++)
				test += infer();
			printf("%d %g\n", batch, test);
		}
	}
	return 96;
}

/* Populations: fitness, selection, crossing, mutation; a local search of the
 * best in each tenth generation. */
int breed(void)
{
	for (int generation = 0; generation < 110; generation++) {
		ALL(b[i] = sin(a[i]));
		ALL(label[i] = b[i] > b[i - 1] ? i : i - 1);
		ALL(c[i] = (a[label[i]] + a[label[i - 1]]) / 2);
		ALL(a[i] = c[i] + 0.01 * (i % 3 - 1));
		if (generation % 10 == 0) {
			for (int k = 0; k < 7; k++)
				ALL(d[i] = fmin(d[i], cos(a[i] + k)));
		}
	}
	return 110;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
