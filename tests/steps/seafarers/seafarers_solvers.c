/* SPDX-License-Identifier: MIT */
/* seafarers_solvers.c - as seafarers.c: what changes with time, and solvers. */
#include "../vectors.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { N = LENGTH };

static double u[N], v[N], w[N], f[N], r[N], p[N], q[N], z[N], old[N], mass[N];

static void laplace(double *to, const double *from, double by)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		to[i] = from[i] +
			by * (2 * from[i] - from[i - 1] - from[i + 1]);
}

/* --- heat, implicit: a step and two halves; is the difference small? --- */

static void relax(double *to, const double *from, double dt)
{
	double change = 1;

	copy(to, from);
	for (int k = 0; k < 40 && change > 1e-3; k++) {
		change = 0;
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			z[i] = (from[i] + dt * (to[i - 1] + to[i + 1])) /
			       (1 + 2 * dt);
#pragma omp parallel for reduction(max : change)
		for (int i = 1; i < N - 1; i++) {
			change = fmax(change, fabs(z[i] - to[i]));
			to[i] = z[i];
		}
	}
}

int doubled(void)
{
	double dt = 0.4, t = 0;
	int step = 0, tried = 0;

	for (int i = 0; i < N; i++)
		u[i] = fabs(noise());
	while (step < 90) {
		double error = 0;

		tried++;
		relax(v, u, dt);
		relax(w, u, dt / 2);
		relax(q, w, dt / 2);
#pragma omp parallel for reduction(max : error)
		for (int i = 0; i < N; i++)
			error = fmax(error, fabs(v[i] - q[i]));
		error *= 1 + noise();
		if (error > 0.02 || dt > 8) {
			dt *= 0.5;
			continue;
		}
		copy(u, q);
		t += dt;
		dt *= 1.3;
		step++;
		if (step % 15 == 0)
			printf("t %f: %f\n", t, dot(u, u));
	}
	printf("tries %d\n", tried);
	return step;
}

/* --- two bodies touch: parts of a load, Newton's steps, who touches --- */

static int conjugate(double *to, const double *from, double goal)
{
	double size, next;
	int k = 0;

	memset(to, 0, N * sizeof(*to));
	copy(r, from);
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		p[i] = z[i] = r[i] / (1 + mass[i]);
	size = dot(r, z);
	goal *= size;
	for (; k < 30 && size > goal; k++) {
		laplace(q, p, 0.6);
		const double far = size / (dot(p, q) + 1e-30);

		add(to, far, p);
		add(r, -far, q);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			z[i] = r[i] / (1 + mass[i]);
		next = dot(r, z);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			p[i] = z[i] + next / (size + 1e-300) * p[i];
		size = next;
	}
	return k;
}

int contact(void)
{
	int part = 0, newtons = 0;

	for (; part < 18; part++) {
		int touching = -1, before = -2;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			old[i] = 0.01 * (part + 1) * sin(i * 0.01);
		for (int k = 0; k < 8 && touching != before; k++, newtons++) {
			before = touching;
			touching = 0;
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				mass[i] = v[i] > 0 ? 10 : 0.1 * fabs(u[i]);
			laplace(f, u, 0.6);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				f[i] = old[i] - f[i] - mass[i] * u[i];
			f[0] = f[N - 1] = 0;
			conjugate(w, f, 1e-3);
			add(u, 0.7, w);
#pragma omp parallel for reduction(+ : touching)
			for (int i = 0; i < N; i++) {
				v[i] = u[i] - 0.02;
				touching += v[i] > 0;
			}
			touching += rand() % 3 == 0;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			v[i] = 0.5 * (v[i] + u[i]);
		if (part % 3 == 2)
			printf("%d: %d touch\n", part, touching);
	}
	printf("newtons %d\n", newtons);
	return part;
}

/* --- conjugate gradients, smoothed by V cycles of four grids in a loop --- */

enum { GRIDS = 4 };

static double grid[GRIDS][N], right[GRIDS][N];

static void smooth(int l, int n)
{
#pragma omp parallel for
	for (int i = 1; i < n - 1; i++)
		grid[l][i] =
			0.5 * grid[l][i] +
			0.2 * (grid[l][i - 1] + grid[l][i + 1] + right[l][i]);
}

static void precondition(double *to, const double *from)
{
	memcpy(right[0], from, sizeof(right[0]));
	for (int l = 0; l < GRIDS - 1; l++) {
		const int n = N >> (l + 1);

		smooth(l, N >> l);
		smooth(l, N >> l);
#pragma omp parallel for
		for (int i = 1; i < n - 1; i++)
			right[l + 1][i] = right[l][2 * i] - grid[l][2 * i];
	}
	for (int k = 0; k < 5; k++)
		smooth(GRIDS - 1, N >> (GRIDS - 1));
	for (int l = GRIDS - 2; l >= 0; l--) {
#pragma omp parallel for
		for (int i = 2; i < (N >> l) - 2; i++)
			grid[l][i] += 0.5 * grid[l + 1][i / 2];
		smooth(l, N >> l);
	}
	copy(to, grid[0]);
}

int smoothed(void)
{
	double size = 1, first;
	int turn = 0;

	for (int i = 0; i < N; i++)
		r[i] = noise();
	precondition(z, r);
	copy(p, z);
	first = size = dot(r, z);
	for (; turn < 35; turn++) {
		laplace(q, p, 1);
		const double far = size / (dot(p, q) + 1e-30);

		add(u, far, p);
		add(r, -far, q);
		precondition(z, r);
		const double next = dot(r, z);

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			p[i] = z[i] + next / (size + 1e-300) * p[i];
		size = next;
	}
	printf("%g of %g\n", size, first);
	return turn;
}

/* --- stars: a tree each eighth step, a picture each thirtieth --- */

int stars(void)
{
	int step = 0;

	for (int i = 0; i < N; i++)
		u[i] = noise() * 10;
	for (; step < 120; step++) {
		if (step % 8 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				w[i] = floor(u[i] * 4);
			for (int l = 0; l < 5; l++) {
#pragma omp parallel for
				for (int i = 0; i < N >> l; i++)
					mass[i] = 0.5 * (mass[i] + w[i]);
			}
		}
#pragma omp parallel for schedule(dynamic, 100)
		for (int i = 0; i < N; i++) {
			f[i] = 0;
			for (int k = i % 7; k < N; k += 97)
				f[i] += (u[k] - u[i]) /
					(1 + (u[k] - u[i]) * (u[k] - u[i]));
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			v[i] += 1e-3 * f[i];
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			u[i] += 1e-2 * v[i];
		if (step % 30 == 29) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				z[i] = u[i] * 8;
			printf("%d: %f\n", step, dot(v, v));
		}
	}
	return step;
}

/* --- two fluids that don't mix: a field and its potential, by a transform in
 * stages --- */

static void transform(double *x)
{
	for (int wide = 1; wide < 1024; wide *= 2) {
#pragma omp parallel for
		for (int i = 0; i < N - wide; i += 2 * wide) {
			const double a = x[i], b = x[i + wide];

			x[i] = (a + b) * 0.7;
			x[i + wide] = (a - b) * 0.7;
		}
	}
}

int demixing(void)
{
	int step = 0;

	for (int i = 0; i < N; i++)
		u[i] = noise() * 0.1;
	for (; step < 100; step++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] = u[i] * u[i] * u[i] - u[i];
		transform(w);
		transform(u);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			u[i] = (u[i] - 0.01 * i * w[i] / N) /
			       (1 + 0.01 * i / N);
		transform(u);
		if (step % 20 == 19)
			printf("%d: %f\n", step, dot(u, u));
	}
	return step;
}

/* --- how many ways there are: walks until all are alike, less then --- */

int flatness(void)
{
	double factor = 1;
	int stage = 0, sweeps = 0;

	for (int i = 0; i < N; i++)
		u[i] = 1;
	for (; stage < 20; stage++) {
		double least = 0;
		int sweep = 0;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			v[i] = 0;
		while (least < 0.8 && sweep < 40) {
			for (int i = 0; i < N; i++)
				w[i] = noise();
#pragma omp parallel for
			for (int i = 0; i < N; i++) {
				v[i] += 1 + w[i];
				u[i] += factor * (w[i] > 0);
			}
			sweep++;
			if (sweep % 4 == 0) {
				least = 1;
#pragma omp parallel for reduction(min : least)
				for (int i = 0; i < N; i++)
					least = fmin(least, v[i] / sweep);
				least += 0.6 * fabs(noise());
			}
		}
		factor /= 2;
		sweeps += sweep;
		printf("%d: %d sweeps\n", stage, sweep);
	}
	printf("sweeps %d\n", sweeps);
	return stage;
}

/* --- sparse: one solves, one shrinks, one holds them together --- */

int multipliers(void)
{
	double rho = 1;
	int turn = 0;

	for (int i = 0; i < N; i++)
		old[i] = noise() * 3;
	for (; turn < 60; turn++) {
		double apart = 0, moved = 0;

		laplace(q, u, 0.3);
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			r[i] = old[i] + rho * (w[i] - v[i]) - q[i];
		copy(p, r);
		for (int k = 0; k < 8; k++) {
			laplace(q, p, 0.3);
			const double size = dot(r, r);
			const double far = size / (dot(p, q) + 1e-30);

			add(u, far, p);
			add(r, -far, q);
			const double next = dot(r, r);

#pragma omp parallel for
			for (int i = 0; i < N; i++)
				p[i] = r[i] + next / (size + 1e-300) * p[i];
		}
#pragma omp parallel for reduction(+ : moved)
		for (int i = 0; i < N; i++) {
			const double to = u[i] + v[i];
			const double small = fabs(to) - 0.2 / rho;

			moved += fabs(w[i] - to);
			w[i] = small > 0 ? copysign(small, to) : 0;
		}
#pragma omp parallel for reduction(+ : apart)
		for (int i = 0; i < N; i++) {
			v[i] += u[i] - w[i];
			apart += fabs(u[i] - w[i]);
		}
		if (turn % 10 == 9) {
			rho *= apart > moved ? 1.1 : 0.9;
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				v[i] /= rho;
			printf("%d: %f\n", turn, apart);
		}
	}
	return turn;
}

/* --- a surface that moves; each fifth step its distances are made anew --- */

int surface(void)
{
	int step = 0;

	for (int i = 0; i < N; i++)
		u[i] = sin(i * 0.02) * 10;
	for (; step < 110; step++) {
		double fastest = 0;

#pragma omp parallel for reduction(max : fastest)
		for (int i = 1; i < N - 1; i++) {
			f[i] = 1 + 0.1 * (u[i + 1] - 2 * u[i] + u[i - 1]);
			fastest = fmax(fastest, fabs(f[i]));
		}
		for (int stage = 0; stage < 2; stage++) {
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				w[i] = f[i] * fabs(u[i + 1] - u[i - 1]) / 2;
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				u[i] -= 0.1 / fastest * w[i];
		}
		if (step % 5 == 4) {
			for (int k = 0; k < 10; k++) {
#pragma omp parallel for
				for (int i = 1; i < N - 1; i++)
					z[i] = u[i] -
					       0.1 * tanh(u[i]) *
						       (fabs(u[i + 1] - u[i]) -
							1);
				copy(u, z);
			}
		}
		if (step % 22 == 21)
			printf("%d: %f\n", step, dot(u, u));
	}
	return step;
}

/* --- vectors of a matrix: 20 products, and begun anew from the best --- */

static double basis[20][N];

int krylov(void)
{
	int start = 0, products = 0;

	for (int i = 0; i < N; i++)
		basis[0][i] = noise();
	for (; start < 16; start++) {
		for (int k = 0; k < 19; k++, products++) {
			laplace(w, basis[k], 0.5);
			for (int j = k; j >= 0 && j >= k - 2; j--)
				add(w, -0.1 * dot(w, basis[j]) / N, basis[j]);
			const double size = sqrt(dot(w, w)) + 1e-30;

#pragma omp parallel for
			for (int i = 0; i < N; i++)
				basis[k + 1][i] = w[i] / size * 60;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			z[i] = 0;
			for (int k = 0; k < 20; k++)
				z[i] += basis[k][i] / (k + 2);
		}
		copy(basis[0], z);
		printf("%d: %g\n", start, dot(z, z));
	}
	printf("products %d\n", products);
	return start;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
