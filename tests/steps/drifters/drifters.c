/* SPDX-License-Identifier: MIT */
/*
 * drifters.c - programs in C as people write them, the ninth set that no rule
 * was set on; their steps stand in drifters.py, written down before the first
 * run.  Each is a program of its own: main() calls PROGRAM and nothing else.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N    4096
#define SIDE 64

static double a[N], b[N], c[N], d[N], e[N], f[N], p[N], q[N], r[N], x[N], y[N];
static int spin[N], label[N], order[N];

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

static void dense(const double *w, const double *in, double *out)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++) {
		double sum = 0;

		for (int k = 0; k < SIDE; k++)
			sum += w[i * SIDE + k] * in[k];
		out[i] = tanh(sum);
	}
}

/* A policy that walks: 30 iterations, each of four episodes until it falls,
 * and then three passes over what was seen. */
int gait(void)
{
	for (int turn = 0; turn < 30; turn++) {
		int seen = 0;

		for (int episode = 0; episode < 4; episode++) {
			const int falls = 6 + rand() % 20;

			for (int t = 0; t < falls; t++, seen++) {
				dense(a, x, d);
				dense(b, d, e);
				for (int i = 0; i < SIDE; i++)
					x[i] = 0.9 * x[i] + 0.1 * e[i];
			}
		}
#pragma omp parallel for
		for (int i = 0; i < seen; i++)
			c[i] = 1.0 / (1 + i);
		for (int pass = 0; pass < 3; pass++) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				r[i] = a[i] * c[i % seen];
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				a[i] -= 0.01 * r[i];
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				b[i] -= 0.01 * r[i];
		}
		printf("%d %d\n", turn, seen);
	}
	return 30;
}

static void stage(double dt, const double *from, double *to)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		to[i] = from[i] - dt * (from[i + 1] - from[i - 1]);
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		to[i * SIDE] = to[i * SIDE + 1];
}

/* Tides: the step from the fastest wave, three stages, a picture each 50. */
int tides(void)
{
	double now = 0;
	int t = 0;

	for (; t < 180; t++) {
		double fast = 1e-3;

#pragma omp parallel for reduction(max : fast)
		for (int i = 0; i < N; i++)
			fast = fmax(fast, fabs(a[i]) + 1);
		stage(0.1 / fast, a, b);
		stage(0.05 / fast, b, c);
		stage(0.1 / fast, c, a);
		now += 0.1 / fast;
		if (t % 50 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				label[i] = (int)(255 * a[i]);
			printf("%d %g %d\n", t, now, label[N / 2]);
		}
	}
	return t;
}

/* Bodies: kick, drift, kick, with a tree that is built anew each 4 steps. */
int gravity(void)
{
	for (int i = 0; i < N; i++)
		x[i] = noise();
	for (int t = 0; t < 160; t++) {
		if (t % 4 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				order[i] = (int)(x[i] * 255);
#pragma omp parallel for
			for (int i = 0; i < 256; i++)
				p[i] = 0;
			for (int level = 0; level < 4; level++) {
#pragma omp parallel for
				for (int i = 0; i < 256 >> level; i++)
					p[i] += order[i] * 0.01;
			}
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			y[i] += 0.5e-3 * a[i];
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			x[i] = fmod(fabs(x[i] + 1e-3 * y[i]), 1);
#pragma omp parallel for schedule(dynamic, 64)
		for (int i = 0; i < N; i++) {
			a[i] = 0;
			for (int k = 0; k < 64; k++)
				a[i] += p[k] - x[i];
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			y[i] += 0.5e-3 * a[i];
	}
	return 160;
}

/* A reactor: 40 time steps, in each Newton's steps until they are small, in
 * each of those a system by conjugate gradients until it is solved. */
int reactor(void)
{
	for (int i = 0; i < N; i++)
		a[i] = noise();
	for (int t = 0; t < 40; t++) {
		const int newton = 2 + rand() % 3;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] = a[i] + 0.01 * sin(t);
		for (int n = 0; n < newton; n++) {
			double rr;

#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				r[i] = b[i] - a[i] + exp(-a[i]);
			memcpy(p, r, sizeof(p));
			memset(x, 0, sizeof(x));
			rr = dot(r, r);
			for (int k = 0, most = 5 + rand() % 9; k < most; k++) {
				double next;

#pragma omp parallel for
				for (int i = 1; i < N - 1; i++)
					q[i] = 4 * p[i] - p[i - 1] - p[i + 1];
				axpy(rr / (dot(p, q) + 1e-9), p, x);
				axpy(-rr / (rr + 1e-9), q, r);
				next = dot(r, r);
#pragma omp parallel for
				for (int i = 0; i < N; i++)
					p[i] = r[i] + 0.5 * p[i];
				rr = next;
			}
			axpy(0.1, x, a);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			c[i] = fmax(c[i], a[i]);
		printf("%d %g\n", t, c[7]);
	}
	return 40;
}

/* --- a language model ----------------------------------------------------- */

static void norm(double *u)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		u[i] /= 1 + fabs(u[i]);
}

static void product(const double *u, const double *v, double *to)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		for (int k = 0; k < SIDE; k++)
			to[i] += 1e-3 * u[i * SIDE + k] * v[k];
}

static void attend(double *u)
{
#pragma omp parallel for
	for (int i = 0; i < 8; i++)
		u[i] = exp(-fabs(u[i]));
}

static double forward(void)
{
	double loss = 0;

#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		x[i] = a[label[i]];
	for (int layer = 0; layer < 6; layer++) {
		norm(x);
		product(a, x, d);
		attend(d);
		product(b, d, e);
		norm(e);
		product(c, e, x);
	}
#pragma omp parallel for reduction(+ : loss)
	for (int i = 0; i < SIDE; i++)
		loss += fabs(x[i]);
	return loss;
}

static void backward(void)
{
	for (int layer = 6; layer-- > 0;) {
		product(c, x, e);
		product(b, e, d);
#pragma omp parallel for
		for (int i = 0; i < SIDE; i++)
			p[i] = d[i] * e[i];
		product(a, d, x);
	}
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		q[label[i]] += x[i];
}

/* 60 updates, each of 4 microbatches; 8 validated ones at first and each 20
 * updates, the rate from a schedule, 32 tokens at the end. */
int language(void)
{
	for (int step = 0; step < 60; step++) {
		const double rate = 1e-3 * fmin(1, (step + 1) / 10.0);
		double size;

		if (step % 20 == 0)
			for (int i = 0; i < 8; i++)
				printf("valid %g\n", forward());
		memset(q, 0, sizeof(q));
		for (int micro = 0; micro < 4; micro++) {
			forward();
			backward();
		}
		size = dot(q, q);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] -= rate * q[i] / (1 + size);
	}
	for (int token = 0; token < 32; token++)
		forward();
	return 60;
}

/* --- cycles --------------------------------------------------------------- */

static void smooth(double *u, const double *rhs, int n)
{
#pragma omp parallel for
	for (int i = 1; i < n - 1; i++)
		f[i] = (u[i - 1] + u[i + 1] + rhs[i]) / 2;
#pragma omp parallel for
	for (int i = 1; i < n - 1; i++)
		u[i] = f[i];
}

static void cycle(double *u, double *rhs, int n)
{
	if (n <= 16) {
		for (int k = 0; k < 4; k++)
			smooth(u, rhs, n);
		return;
	}
	smooth(u, rhs, n);
	smooth(u, rhs, n);
#pragma omp parallel for
	for (int i = 1; i < n / 2 - 1; i++)
		rhs[n + i] = rhs[2 * i] - u[2 * i] + u[2 * i - 1];
	cycle(u + n, rhs + n, n / 2);
#pragma omp parallel for
	for (int i = 1; i < n / 2 - 1; i++)
		u[2 * i] += u[n + i];
	smooth(u, rhs, n);
}

/* V cycles that call themselves, until 24 are done, and the residual. */
int cycles(void)
{
	for (int k = 0; k < 24; k++) {
		double rest = 0;

		cycle(x, y, N / 4);
#pragma omp parallel for reduction(+ : rest)
		for (int i = 1; i < N / 4 - 1; i++)
			rest += fabs(y[i] - x[i]);
		printf("%d %g\n", k, rest);
	}
	return 24;
}

/* Lloyd's iterations, until no point moves much; the first centres are chosen
 * far from each other. */
int centres(void)
{
	double centre[24], sum[24];
	int turns = 0;

	for (int i = 0; i < N; i++)
		a[i] = noise() + i % 5;
	for (int k = 0; k < 24; k++) {
		double all = 0;

		centre[k] = a[rand() % N];
#pragma omp parallel for reduction(+ : all)
		for (int i = 0; i < N; i++) {
			b[i] = fmin(k ? b[i] : 1e9, fabs(a[i] - centre[k]));
			all += b[i];
		}
	}
	for (double moved = 1; moved > 1e-4 && turns < 45; turns++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			label[i] = 0;
			for (int k = 1; k < 24; k++)
				if (fabs(a[i] - centre[k]) <
				    fabs(a[i] - centre[label[i]]))
					label[i] = k;
		}
		memset(sum, 0, sizeof(sum));
#pragma omp parallel for reduction(+ : sum[:24])
		for (int i = 0; i < N; i++)
			sum[label[i]] += a[i] - centre[label[i]];
		moved = 0;
		for (int k = 0; k < 24; k++) {
			centre[k] += sum[k] / N;
			moved = fmax(moved, fabs(sum[k]));
		}
	}
	return turns;
}

/* A mixture by expectation and maximization: responsibilities, weights,
 * means, variances. */
int mixture(void)
{
	double mean = 0, spread = 1;

	for (int turn = 0; turn < 70; turn++) {
		double likely = 0, weight = 0, first = 0, second = 0;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			p[i] = exp(-(a[i] - mean) * (a[i] - mean) / spread);
#pragma omp parallel for reduction(+ : likely)
		for (int i = 0; i < N; i++)
			likely += log(p[i] + 1e-9);
#pragma omp parallel for reduction(+ : weight, first)
		for (int i = 0; i < N; i++) {
			weight += p[i];
			first += p[i] * a[i];
		}
		mean = first / weight;
#pragma omp parallel for reduction(+ : second)
		for (int i = 0; i < N; i++)
			second += p[i] * (a[i] - mean) * (a[i] - mean);
		spread = 1 + second / weight;
		if (turn && likely != likely)
			break;
	}
	return 70;
}

/* Spins on two colours: 100 sweeps to warm up, 400 more, measured each 10. */
int magnet(void)
{
	for (int sweep = 0; sweep < 500; sweep++) {
		for (int color = 0; color < 2; color++) {
#pragma omp parallel for
			for (int i = 1; i < SIDE - 1; i++)
				for (int j = 1 + (i + color) % 2; j < SIDE - 1;
				     j += 2)
					spin[i * SIDE + j] =
						spin[i * SIDE + j - 1] ^
						spin[i * SIDE + j + 1] ^ 1;
		}
		if (sweep >= 100 && sweep % 10 == 0) {
			int sum = 0;

#pragma omp parallel for reduction(+ : sum)
			for (int i = 0; i < N; i++)
				sum += spin[i];
			printf("%d %d\n", sweep, sum);
		}
	}
	return 500;
}

static void fft_rows(double *u)
{
#pragma omp parallel for
	for (int row = 0; row < SIDE; row++)
		for (int half = 1; half < SIDE; half *= 2)
			for (int i = 0; i + half < SIDE; i += 2 * half) {
				double *v = u + row * SIDE + i;
				const double t = v[half];

				v[half] = (v[0] - t) / 2;
				v[0] = (v[0] + t) / 2;
			}
}

static void turn_over(double *u)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		for (int k = i; k < SIDE; k++) {
			const double t = u[i * SIDE + k];

			u[i * SIDE + k] = u[k * SIDE + i];
			u[k * SIDE + i] = t;
		}
}

static void fft(double *u)
{
	fft_rows(u);
	turn_over(u);
	fft_rows(u);
}

/* Vortices: four stages, in each the velocities by transforms there and back;
 * the spectrum each 16. */
int vortices(void)
{
	for (int t = 0; t < 80; t++) {
		for (int k = 0; k < 4; k++) {
			fft(a);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				b[i] = a[i] / (1 + i);
			fft(b);
			fft(c);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				a[i] += 1e-3 * b[i] * c[i];
		}
		if (t % 16 == 15) {
			fft(a);
			printf("%d %g\n", t, dot(a, a));
		}
	}
	return 80;
}

/* Shortest ways from 20 sources, by buckets until none is left. */
int routes(void)
{
	for (int s = 0; s < 20; s++) {
		int left = 1;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = i == s * 200 ? 0 : 1e9;
		for (int bucket = 0; left; bucket++) {
			int again = 1;

			while (again) {
				again = 0;
#pragma omp parallel for reduction(+ : again)
				for (int i = 1; i < N; i++) {
					const int to = (i * 13 + 1) % N;

					if ((int)(a[i] / 40) != bucket ||
					    a[to] <= a[i] + 1 + i % 17)
						continue;
					a[to] = a[i] + 1 + i % 17;
					again++;
				}
			}
			left = 0;
#pragma omp parallel for reduction(+ : left)
			for (int i = 0; i < N; i++)
				left += a[i] < 1e9 && (int)(a[i] / 40) > bucket;
		}
		printf("%d %g\n", s, a[N - 1]);
	}
	return 20;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
