/* SPDX-License-Identifier: MIT */
/* voyagers_solvers.c - as voyagers.c: solvers, and what changes with time. */
#include "../vectors.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { N = LENGTH };

static double u[N], v[N], w[N], f[N], g[N], r[N], p[N], q[N], old[N],
	stage[7][N];

/* --- Runge and Kutta: a step is tried until its error is small --- */

static void reaction(const double *x, double *to)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		to[i] = 0.3 * (x[i - 1] - 2 * x[i] + x[i + 1]) +
			x[i] * (1 - x[i]);
}

int embedded(void)
{
	double t = 0, h = 0.01, next = 0.5;
	int accepted = 0, tried = 0;

	for (int i = 0; i < N; i++)
		u[i] = fabs(noise());
	while (accepted < 110) {
		double error = 0;

		tried++;
		for (int s = 0; s < 6; s++) {
			copy(w, u);
			for (int k = 0; k < s; k++)
				add(w, h / (s + 1), stage[k]);
			reaction(w, stage[s]);
		}
#pragma omp parallel for reduction(max : error)
		for (int i = 0; i < N; i++)
			error = fmax(error, fabs(stage[5][i] - stage[3][i]));
		error *= 1 + fabs(noise());
		if (error * h > 0.006) {
			h *= 0.6;
			continue;
		}
		add(u, h, stage[4]);
		t += h;
		accepted++;
		h *= 1.15;
		if (t > next) {
			next += 0.5;
			printf("t %f: %f\n", t, dot(u, u));
		}
	}
	printf("tries %d\n", tried);
	return accepted;
}

/* --- stiff: backward differences, Newton's steps, a matrix when needed --- */

int stiff(void)
{
	int step = 0, matrices = 0;
	bool is_stale = true;

	for (int i = 0; i < N; i++)
		u[i] = fabs(noise());
	for (; step < 85; step++) {
		double moved = 1;

#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			w[i] = 2 * u[i] - old[i];
			old[i] = u[i];
		}
		for (int k = 0; k < 6 && moved > 1e-6; k++) {
			if (is_stale) {
#pragma omp parallel for
				for (int i = 0; i < N; i++)
					g[i] = 1 / (1 + fabs(w[i]));
				is_stale = false;
				matrices++;
			}
			reaction(w, f);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				r[i] = g[i] * (w[i] - u[i] - 0.01 * f[i]);
			moved = dot(r, r) * fabs(noise());
			add(w, -0.5, r);
			is_stale = k == 4;
		}
		copy(u, w);
		if (step % 17 == 16)
			printf("%d: %g\n", step, moved);
	}
	printf("matrices %d\n", matrices);
	return step;
}

/* --- a load in parts: Newton's steps, each by conjugate gradients --- */

static void stiffness(const double *x, double *to)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		to[i] = 2.2 * x[i] - x[i - 1] - x[i + 1];
}

static int gradients(double *to, const double *from, double goal, int most)
{
	double size, next;
	int k = 0;

	memset(to, 0, N * sizeof(*to));
	copy(r, from);
	copy(p, r);
	size = dot(r, r);
	goal *= size;
	for (; k < most && size > goal; k++) {
		stiffness(p, q);
		const double alpha = size / (dot(p, q) + 1e-30);

		add(to, alpha, p);
		add(r, -alpha, q);
		next = dot(r, r);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			p[i] = r[i] + next / (size + 1e-300) * p[i];
		size = next;
	}
	return k;
}

int load(void)
{
	int part = 0, newtons = 0;

	for (; part < 24; part++) {
		const int turns = 2 + rand() % 4;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			g[i] = (part + 1) * sin(i * 0.01) / 240;
		for (int k = 0; k < turns; k++, newtons++) {
			stiffness(u, f);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				f[i] = g[i] - f[i] - 0.1 * u[i] * u[i] * u[i];
			f[0] = f[N - 1] = 0;
			gradients(w, f, 1e-4, 25);
			add(u, 0.2, w);
		}
		printf("%d: %f after %d\n", part, dot(u, u), turns);
	}
	printf("newtons %d\n", newtons);
	return part;
}

/* --- W cycles, by a function that calls itself --- */

enum { GRIDS = 5 };

static double grid[GRIDS][N], right[GRIDS][N];

static void relax(int l, int n)
{
#pragma omp parallel for
	for (int i = 1; i < n - 1; i++)
		grid[l][i] =
			0.5 * grid[l][i] +
			0.25 * (grid[l][i - 1] + grid[l][i + 1] + right[l][i]);
}

static void wcycle(int l, int n)
{
	relax(l, n);
	if (l == GRIDS - 1) {
		for (int k = 0; k < 8; k++)
			relax(l, n);
		return;
	}
#pragma omp parallel for
	for (int i = 1; i < n / 2 - 1; i++) {
		right[l + 1][i] =
			right[l][2 * i] - grid[l][2 * i] +
			0.5 * (grid[l][2 * i - 1] + grid[l][2 * i + 1]);
		grid[l + 1][i] = 0;
	}
	wcycle(l + 1, n / 2);
	wcycle(l + 1, n / 2);
#pragma omp parallel for
	for (int i = 2; i < n - 2; i++)
		grid[l][i] += grid[l + 1][i / 2] / 2;
	relax(l, n);
}

int wheels(void)
{
	double size = 1;
	int cycles = 0;

	for (int i = 0; i < N; i++)
		right[0][i] = noise();
	while (size > 1e-12 && cycles < 26) {
		wcycle(0, N);
		size = 0;
#pragma omp parallel for reduction(+ : size)
		for (int i = 1; i < N - 1; i++)
			size += pow(right[0][i] - 2 * grid[0][i] +
					    grid[0][i - 1] + grid[0][i + 1],
				    2);
		cycles++;
		printf("%d: %g\n", cycles, size);
	}
	return cycles;
}

/* --- a fluid and what it bends: sweeps and a plate until both agree --- */

int plate(void)
{
	int step = 0, couplings = 0;

	for (; step < 45; step++) {
		double gap = 1;

#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			old[i] = u[i];
			f[i] = sin(step * 0.1 + i * 0.001);
		}
		for (int k = 0; k < 9 && gap > 0.03; k++, couplings++) {
			for (int sweep = 0; sweep < 8; sweep++) {
#pragma omp parallel for
				for (int i = 1; i < N - 1; i++)
					v[i] = 0.25 * (u[i - 1] + u[i + 1]) +
					       0.5 * f[i];
#pragma omp parallel for
				for (int i = 1; i < N - 1; i++)
					u[i] = 0.25 * (v[i - 1] + v[i + 1]) +
					       0.5 * f[i];
			}
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				w[i] += 0.3 * (u[i] - w[i]);
			gap = 0;
#pragma omp parallel for reduction(max : gap)
			for (int i = 0; i < N; i++)
				gap = fmax(gap, fabs(u[i] - w[i]));
			gap *= fabs(noise()) * 0.4;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			g[i] = w[i] - old[i];
		if (step % 9 == 8)
			printf("%d: %f\n", step, w[N / 2]);
	}
	printf("couplings %d\n", couplings);
	return step;
}

/* --- what lies below: waves forward, waves back, a step as far as it helps ---
 */

static double speed[N], slope[N];

static void wave(const double *with, const double *from)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		w[i] = 2 * u[i] - v[i] +
		       0.2 * with[i] * (u[i - 1] - 2 * u[i] + u[i + 1]) +
		       0.01 * from[i];
#pragma omp parallel for
	for (int i = 0; i < N; i++) {
		v[i] = u[i];
		u[i] = w[i];
	}
}

static double misfit(const double *with)
{
	memset(u, 0, sizeof(u));
	memset(v, 0, sizeof(v));
	for (int t = 0; t < 30; t++)
		wave(with, f);
	return dot(u, u);
}

int inversion(void)
{
	int turn = 0, tried = 0;

	for (int i = 0; i < N; i++) {
		speed[i] = 1;
		f[i] = noise();
	}
	for (; turn < 25; turn++) {
		double far = 0.1, before = misfit(speed);

		copy(g, u);
		for (int t = 0; t < 30; t++) {
			wave(speed, g);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				slope[i] += u[i] * v[i];
		}
		do {
			copy(old, speed);
			add(old, -far * 1e-9, slope);
			far /= 2;
			tried++;
		} while (misfit(old) > before * (1 + noise()) && far > 1e-3);
		copy(speed, old);
		printf("%d: %g\n", turn, before);
	}
	printf("tries %d\n", tried);
	return turn;
}

/* --- hybrid Monte Carlo on a lattice: leaps of 10, a measurement each 5 --- */

int leaps(void)
{
	int trajectory = 0, kept = 0;

	for (int i = 0; i < N; i++)
		u[i] = noise();
	for (; trajectory < 60; trajectory++) {
		double before, after;

		for (int i = 0; i < N; i++)
			p[i] = noise();
		copy(old, u);
		before = dot(p, p) + dot(u, u);
		for (int leap = 0; leap < 10; leap++) {
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				f[i] = u[i - 1] + u[i + 1] - 2.1 * u[i];
			add(p, 0.005, f);
			add(u, 0.005, p);
		}
		after = dot(p, p) + dot(u, u);
		if (exp((before - after) / 100) < fabs(noise()))
			copy(u, old);
		else
			kept++;
		if (trajectory % 5 == 4) {
			double plaquette = 0;

#pragma omp parallel for reduction(+ : plaquette)
			for (int i = 1; i < N; i++)
				plaquette += u[i] * u[i - 1];
			printf("%d: %f\n", trajectory, plaquette);
		}
	}
	printf("kept %d\n", kept);
	return trajectory;
}

/* --- atoms: a list when one has moved far, a pressure each 25 --- */

int atoms(void)
{
	double moved = 1;
	int step = 0, lists = 0;

	for (int i = 0; i < N; i++) {
		u[i] = i + noise();
		v[i] = noise();
	}
	for (; step < 400; step++) {
		add(v, 0.005, f);
		add(u, 0.01, v);
		moved += 0.04 + 0.06 * fabs(noise());
		if (moved > 1) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				w[i] = floor(u[i] / 3);
#pragma omp parallel for schedule(dynamic, 64)
			for (int i = 1; i < N; i++)
				q[i] = w[i] == w[i - 1];
			moved = 0;
			lists++;
		}
#pragma omp parallel for schedule(dynamic, 64)
		for (int i = 1; i < N - 1; i++)
			f[i] = (u[i - 1] + u[i + 1] - 2 * u[i]) * (1 + q[i]);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			v[i] += 0.005 * f[i];
		if (step % 10 == 9) {
			const double heat = dot(v, v) / N;

#pragma omp parallel for
			for (int i = 0; i < N; i++)
				v[i] *= sqrt(0.08 / heat);
		}
		if (step % 25 == 24)
			printf("%d: pressure %f\n", step, dot(u, f));
	}
	printf("lists %d\n", lists);
	return step;
}

/* --- two grids: the finer makes two steps in each, flagged each fourth --- */

static void sweep_grid(double *x, double *flux, double dt)
{
#pragma omp parallel for
	for (int i = 1; i < N; i++)
		flux[i] = 0.5 * (x[i - 1] * x[i - 1] - x[i] * x[i]);
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		x[i] -= dt * (flux[i + 1] - flux[i]);
}

int nested_grids(void)
{
	int step = 0;

	for (int i = 0; i < N; i++)
		u[i] = sin(i * 0.01);
	for (; step < 80; step++) {
		if (step % 4 == 0) {
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				q[i] = fabs(u[i + 1] - u[i - 1]) > 0.1;
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				v[i] = q[i] ? u[i / 2] : v[i];
		}
		sweep_grid(u, f, 1e-3);
		for (int k = 0; k < 2; k++) {
#pragma omp parallel for
			for (int i = 0; i < 16; i++)
				v[i * (N - 1) / 15] = u[i * (N - 1) / 15];
			sweep_grid(v, g, 5e-4);
		}
#pragma omp parallel for
		for (int i = 0; i < N / 2; i++)
			u[i] = q[i] ? 0.5 * (v[2 * i] + v[2 * i + 1]) : u[i];
		if (step % 20 == 19)
			printf("%d: %f\n", step, dot(u, u));
	}
	return step;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
