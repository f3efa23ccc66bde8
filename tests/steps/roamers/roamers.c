/* SPDX-License-Identifier: MIT */
/*
 * roamers.c - programs in C as people write them, the eleventh set; their steps
 * stand in roamers.py, written down before the first run.  Each is a program of
 * its own: main() calls PROGRAM and nothing else.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 4000

static double noise(void)
{
	return rand() / (double)RAND_MAX;
}

/* --- a filter: an ensemble moves as far as the next measurement --- */

#define MEMBERS 24

static double member[MEMBERS][N], mean[N], spread[N];

static void forecast(double dt)
{
#pragma omp parallel for
	for (int m = 0; m < MEMBERS; m++) {
		for (int i = 1; i < N - 1; i++)
			member[m][i] +=
				dt * (member[m][i - 1] - 2 * member[m][i] +
				      member[m][i + 1]);
	}
}

static void statistics(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++) {
		mean[i] = spread[i] = 0;
		for (int m = 0; m < MEMBERS; m++)
			mean[i] += member[m][i] / MEMBERS;
		for (int m = 0; m < MEMBERS; m++)
			spread[i] += pow(member[m][i] - mean[i], 2);
	}
}

static void assimilate(const double *seen)
{
#pragma omp parallel for
	for (int m = 0; m < MEMBERS; m++) {
		for (int i = 0; i < N; i++)
			member[m][i] += spread[i] / (spread[i] + 0.1) *
					(seen[i] - member[m][i]);
	}
}

int kalman(void)
{
	static double seen[N];
	double t = 0;

	for (int m = 0; m < MEMBERS; m++) {
		for (int i = 0; i < N; i++)
			member[m][i] = noise();
	}
	for (int cycle = 0; cycle < 60; cycle++) {
		const double until = t + 0.4 + 0.3 * noise();

		while (t < until) {
			forecast(0.1);
			t += 0.1;
		}
		for (int i = 0; i < N; i++)
			seen[i] = sin(t + i * 0.01) + 0.1 * noise();
		statistics();
		assimilate(seen);
	}
	return 60;
}

/* --- Hamiltonian Monte Carlo: paths of any length, some refused --- */

static double place[N], speed[N], slope[N], was[N];

static void gradient(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		slope[i] = place[i] +
			   0.1 * (place[(i + 1) % N] - place[(i + N - 1) % N]);
}

static void drift(double by)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++) {
		speed[i] -= by * slope[i];
		place[i] += by * speed[i];
	}
}

static double energy(void)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += (speed[i] * speed[i] + place[i] * place[i]) / 2;
	return sum;
}

int paths(void)
{
	int taken = 0;

	for (int sample = 0; sample < 150; sample++) {
		const int length = 5 + rand() % 11;
		double before;

		for (int i = 0; i < N; i++)
			speed[i] = noise() - 0.5;
		memcpy(was, place, sizeof(was));
		before = energy();
		for (int k = 0; k < length; k++) {
			gradient();
			drift(0.05);
		}
		if (energy() - before > 3 * noise())
			memcpy(place, was, sizeof(was));
		else
			taken++;
	}
	printf("taken %d\n", taken);
	return 150;
}

/* --- stages of a pipeline that stand in a table --- */

static float frame[N], light[N], edges[N];

static void take(int k)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		frame[i] = (float)((i * 31 + k * 17) % 255);
}

static void smooth(int k)
{
	(void)k;
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		light[i] = (frame[i - 1] + 2 * frame[i] + frame[i + 1]) / 4;
}

static void find_edges(int k)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		edges[i] = light[i + 1] - light[i - 1] > (float)(k % 9);
}

static void thin(int k)
{
	(void)k;
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		frame[i] = edges[i] && !edges[i - 1];
}

int stages(void)
{
	static void (*const table[])(int) = {take, smooth, find_edges, thin};
	float found = 0;

	for (int k = 0; k < 120; k++) {
		for (unsigned int s = 0; s < 4; s++)
			table[s](k);
		found += frame[N / 2];
	}
	printf("found %g\n", found);
	return 120;
}

/* --- phases that part, a picture each 30 time steps --- */

static double phase[N], potential[N];

static void chemical(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		potential[i] = pow(phase[i], 3) - phase[i] -
			       0.5 * (phase[(i + 1) % N] - 2 * phase[i] +
				      phase[(i + N - 1) % N]);
}

static void part(double dt)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		phase[i] += dt * (potential[(i + 1) % N] - 2 * potential[i] +
				  potential[(i + N - 1) % N]);
}

static double free_energy(void)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += pow(phase[i] * phase[i] - 1, 2) / 4;
	return sum;
}

int alloys(void)
{
	for (int i = 0; i < N; i++)
		phase[i] = 0.2 * noise() - 0.1;
	printf("at first %g\n", free_energy());
	for (int step = 1; step <= 300; step++) {
		chemical();
		part(0.01);
		if (step % 30 == 0)
			printf("%d %g\n", step, free_energy());
	}
	return 300;
}

/* --- eigenvalues: a basis of 14 vectors, begun anew 22 times --- */

#define BASIS 14

static double basis[BASIS + 1][N], rows[BASIS + 1][BASIS];

static void times(const double *x, double *y)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		y[i] = (2 + i * 1e-3) * x[i] - x[(i + 1) % N] -
		       x[(i + N - 1) % N];
}

static double product(const double *x, const double *y)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += x[i] * y[i];
	return sum;
}

static void add(double by, const double *x, double *y)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		y[i] += by * x[i];
}

static void scale(double by, double *x)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] *= by;
}

int arnoldi(void)
{
	for (int i = 0; i < N; i++)
		basis[0][i] = noise();
	for (int restart = 0; restart < 22; restart++) {
		scale(1 / sqrt(product(basis[0], basis[0])), basis[0]);
		for (int k = 0; k < BASIS; k++) {
			times(basis[k], basis[k + 1]);
			for (int j = 0; j <= k; j++) {
				rows[j][k] = product(basis[j], basis[k + 1]);
				add(-rows[j][k], basis[j], basis[k + 1]);
			}
			rows[k + 1][k] =
				sqrt(product(basis[k + 1], basis[k + 1]));
			scale(1 / rows[k + 1][k], basis[k + 1]);
		}
		for (int k = 1; k <= BASIS; k++)
			add(rows[k][k - 1], basis[k], basis[0]);
	}
	return 22;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
