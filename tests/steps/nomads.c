/* SPDX-License-Identifier: MIT */
/*
 * nomads.c - programs in C as people write them, the eighth set that no rule
 * was set on; their steps stand in nomads.py, written down before the first
 * run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N    4096
#define SIDE 64

static double a[N], b[N], c[N], d[N], e[N], f[N], p[N], q[N], r[N], x[N], y[N];
static int spin[N], label[N], level[N];

static double noise(void)
{
	return rand() / (double)RAND_MAX;
}

/* Burgers' equation: the time step from the fastest wave, two stages, the
 * mean printed each 20. */
static int burgers(void)
{
	for (int i = 0; i < N; i++)
		a[i] = sin(6.28 * i / N);
	for (int t = 0; t < 200; t++) {
		double most = 1e-9, dt;

#pragma omp parallel for reduction(max : most)
		for (int i = 0; i < N; i++)
			most = fmax(most, fabs(a[i]));
		dt = 0.4 / (N * most);
#pragma omp parallel for
		for (int i = 1; i < N; i++)
			b[i] = a[i] - dt * N * a[i] * (a[i] - a[i - 1]);
#pragma omp parallel for
		for (int i = 1; i < N; i++)
			c[i] = b[i] - dt * N * b[i] * (b[i] - b[i - 1]);
#pragma omp parallel for
		for (int i = 1; i < N; i++)
			a[i] = 0.5 * (a[i] + c[i]);
		if (t % 20 == 0) {
			double sum = 0;

#pragma omp parallel for reduction(+ : sum)
			for (int i = 0; i < N; i++)
				sum += a[i];
			printf("%d %g\n", t, sum / N);
		}
	}
	return 200;
}

static void thomas(double *u)
{
#pragma omp parallel for
	for (int row = 0; row < SIDE; row++) {
		double *v = u + row * SIDE;

		for (int i = 1; i < SIDE; i++)
			v[i] = (v[i] + 0.25 * v[i - 1]) / 1.25;
		for (int i = SIDE - 2; i >= 0; i--)
			v[i] = (v[i] + 0.25 * v[i + 1]) / 1.25;
	}
}

static void turned(const double *u, double *v)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			v[j * SIDE + i] = u[i * SIDE + j];
}

/* Heat by alternating directions: the rows' systems, then the columns'. */
static int adi(void)
{
	a[N / 2 + SIDE / 2] = 100;
	for (int t = 0; t < 120; t++) {
		thomas(a);
		turned(a, b);
		thomas(b);
		turned(b, a);
	}
	return 120;
}

/* Potts spins cooled down: 20 sweeps of two colours at each temperature. */
static int potts(void)
{
	for (int k = 0; k < 30; k++) {
		const double heat = 2.0 * pow(0.9, k);
		int energy = 0;

		for (int sweep = 0; sweep < 20; sweep++)
			for (int color = 0; color < 2; color++) {
#pragma omp parallel for
				for (int i = 1; i < SIDE - 1; i++)
					for (int j = 1 + (i + color) % 2;
					     j < SIDE - 1; j += 2) {
						int *s = &spin[i * SIDE + j];

						if (s[1] + s[-1] + s[SIDE] +
							    s[-SIDE] >
						    2 * heat)
							*s = (*s + 1) % 3;
					}
			}
#pragma omp parallel for reduction(+ : energy)
		for (int i = 0; i < N - 1; i++)
			energy += spin[i] == spin[i + 1];
		printf("%g %d\n", heat, energy);
	}
	return 600;
}

/* Orthogonal iterations of six vectors: each is made orthogonal to those
 * before it. */
static int subspace(void)
{
	static double v[6][N];

	for (int k = 0; k < 6; k++)
		for (int i = 0; i < N; i++)
			v[k][i] = noise();
	for (int turn = 0; turn < 40; turn++) {
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			for (int k = 0; k < 6; k++)
				v[k][i] += 0.1 * (v[k][i - 1] + v[k][i + 1]);
		for (int k = 0; k < 6; k++) {
			double norm = 0;

			for (int j = 0; j < k; j++) {
				double dot = 0;

#pragma omp parallel for reduction(+ : dot)
				for (int i = 0; i < N; i++)
					dot += v[k][i] * v[j][i];
#pragma omp parallel for
				for (int i = 0; i < N; i++)
					v[k][i] -= dot * v[j][i];
			}
#pragma omp parallel for reduction(+ : norm)
			for (int i = 0; i < N; i++)
				norm += v[k][i] * v[k][i];
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				v[k][i] /= sqrt(norm);
		}
	}
	return 40;
}

/* Particles in cells: charges, 15 sweeps for the potential, field and push;
 * the energy each ten. */
static int plasma(void)
{
	for (int t = 0; t < 60; t++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = cos(x[i]) * 0.1;
		for (int sweep = 0; sweep < 15; sweep++) {
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				c[i] = 0.5 * (b[i - 1] + b[i + 1] + a[i]);
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				b[i] = c[i];
		}
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			d[i] = b[i - 1] - b[i + 1];
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			y[i] += 0.01 * d[(int)fabs(x[i]) % N];
			x[i] += 0.01 * y[i];
		}
		if (t % 10 == 9) {
			double sum = 0;

#pragma omp parallel for reduction(+ : sum)
			for (int i = 0; i < N; i++)
				sum += y[i] * y[i];
			printf("%d %g\n", t, sum);
		}
	}
	return 60;
}

/* Centres of batches: 5 epochs of 24, all points assigned behind each. */
static int batches(void)
{
	double centre[16], sum[16];

	for (int i = 0; i < N; i++)
		a[i] = noise();
	for (int k = 0; k < 16; k++)
		centre[k] = a[k];
	for (int epoch = 0; epoch < 5; epoch++) {
		double inertia = 0;

		for (int batch = 0; batch < 24; batch++) {
			const int from = rand() % (N / 2);

#pragma omp parallel for
			for (int i = from; i < from + 512; i++) {
				label[i] = 0;
				for (int k = 1; k < 16; k++)
					if (fabs(a[i] - centre[k]) <
					    fabs(a[i] - centre[label[i]]))
						label[i] = k;
			}
			memset(sum, 0, sizeof(sum));
#pragma omp parallel for reduction(+ : sum[:16])
			for (int i = from; i < from + 512; i++)
				sum[label[i]] += a[i] - centre[label[i]];
			for (int k = 0; k < 16; k++)
				centre[k] += 0.01 * sum[k];
		}
#pragma omp parallel for reduction(+ : inertia)
		for (int i = 0; i < N; i++)
			inertia += fabs(a[i] - centre[label[i]]);
		printf("%d %g\n", epoch, inertia);
	}
	return 120;
}

static void gemm(const double *u, const double *v, double *to)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			double sum = 0;

			for (int k = 0; k < SIDE; k++)
				sum += u[i * SIDE + k] * v[k * SIDE + j];
			to[i * SIDE + j] = sum / SIDE;
		}
}

static void relu(double *u)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		u[i] = u[i] > 0 ? u[i] : 0;
}

static double net(void)
{
	double loss = 0;

	gemm(x, a, d);
	relu(d);
	gemm(d, b, e);
	relu(e);
	gemm(e, c, f);
#pragma omp parallel for reduction(+ : loss)
	for (int i = 0; i < N; i++)
		loss += (f[i] - y[i]) * (f[i] - y[i]);
	return loss;
}

/* A network of three layers: 4 epochs of 30 batches, a validation of 6 behind
 * each, which may end it. */
static int mlp(void)
{
	double best = 1e300;
	int steps = 0;

	for (int i = 0; i < N; i++)
		a[i] = b[i] = c[i] = noise() - 0.5;
	for (int epoch = 0; epoch < 4; epoch++) {
		double loss = 0;

		for (int batch = 0; batch < 30; batch++, steps++) {
			for (int i = 0; i < N; i++)
				x[i] = noise();
			net();
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				p[i] = f[i] - y[i];
			gemm(e, p, q);
			gemm(p, c, r);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				c[i] -= 1e-3 * q[i];
			gemm(d, r, q);
			gemm(r, b, p);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				b[i] -= 1e-3 * q[i];
			gemm(x, p, q);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				a[i] -= 1e-3 * q[i];
		}
		for (int batch = 0; batch < 6; batch++)
			loss += net();
		printf("%d %g\n", epoch, loss);
		if (loss > 2 * best)
			break;
		best = fmin(best, loss);
	}
	return steps;
}

/* Betweenness: from each of 24 sources breadth first, then the levels back. */
static int between(void)
{
	for (int s = 0; s < 24; s++) {
		int depth = 0, found = 1;

		memset(level, -1, sizeof(level));
		level[rand() % N] = 0;
		while (found) {
			found = 0;
#pragma omp parallel for reduction(+ : found)
			for (int i = 0; i < N; i++) {
				const int next[] = {(i * 7 + 1) % N,
						    (i + 1) % N,
						    (i * 3 + 5) % N};

				if (level[i] != depth)
					continue;
				for (int k = 0; k < 3; k++)
					if (level[next[k]] < 0) {
						level[next[k]] = depth + 1;
						found++;
					}
			}
			depth++;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = 1;
		for (; depth > 0; depth--) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				if (level[i] == depth)
					a[i] += 0.5;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] += a[i];
	}
	return 24;
}

/* Lattice Boltzmann: collide and stream, and the walls. */
static int channel(void)
{
	static double g[9][N], h[9][N];

	for (int t = 0; t < 250; t++) {
#pragma omp parallel for
		for (int i = SIDE + 1; i < N - SIDE - 1; i++) {
			double rho = 0;

			for (int k = 0; k < 9; k++)
				rho += g[k][i];
			for (int k = 0; k < 9; k++)
				h[k][i + k % 3 - 1] =
					g[k][i] + 0.6 * (rho / 9 - g[k][i]);
		}
#pragma omp parallel for
		for (int i = 0; i < SIDE; i++)
			h[1][i] = h[3][i];
#pragma omp parallel for
		for (int k = 0; k < 9; k++)
			memcpy(g[k], h[k], sizeof(g[k]));
	}
	return 250;
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

/* Alloys that separate: in each of 50 time steps a system by conjugate
 * gradients, until it is solved. */
static int alloy(void)
{
	for (int i = 0; i < N; i++)
		a[i] = noise() - 0.5;
	for (int t = 0; t < 50; t++) {
		double rr, pq;

#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			r[i] = p[i] = a[i] + 0.1 * (a[i] - a[i] * a[i] * a[i]);
			x[i] = 0;
		}
		rr = dot(r, r);
		for (int k = 0; k < 60 && rr > 1e-8 * (1 + t % 7); k++) {
			double next;

#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				q[i] = 3 * p[i] - p[i - 1] - p[i + 1];
			pq = dot(p, q);
			axpy(rr / pq, p, x);
			axpy(-rr / pq, q, r);
			next = dot(r, r);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				p[i] = r[i] + next / rr * p[i];
			rr = next;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = x[i];
	}
	return 50;
}

/* Users' factors, then items', and the error of both. */
static int factors(void)
{
	for (int epoch = 0; epoch < 25; epoch++) {
		double error = 0;

#pragma omp parallel for schedule(dynamic, 64)
		for (int u = 0; u < N; u++)
			a[u] = (b[(u * 5) % N] + b[(u * 11) % N]) / 2.1;
#pragma omp parallel for schedule(dynamic, 64)
		for (int i = 0; i < N; i++)
			b[i] = (a[(i * 3) % N] + 1) / 2.1;
#pragma omp parallel for reduction(+ : error)
		for (int u = 0; u < N; u++)
			error += fabs(a[u] * b[u] - 1);
		printf("%d %g\n", epoch, error);
	}
	return 25;
}

static void blurred(double *u)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		f[i] = (u[i - 1] + u[i] + u[i + 1]) / 3;
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		u[i] = f[i];
}

/* Frames of a film: smoothed three times, gradients, a histogram, eight
 * iterations of its flow. */
static int film(void)
{
	for (int frame = 0; frame < 30; frame++) {
		int bins[16] = {0};

		for (int i = 0; i < N; i++)
			a[i] = noise();
		for (int k = 0; k < 3; k++)
			blurred(a);
#pragma omp parallel for
		for (int i = 1; i < N; i++)
			b[i] = a[i] - a[i - 1];
#pragma omp parallel for reduction(+ : bins[:16])
		for (int i = 0; i < N; i++)
			bins[(int)(a[i] * 15)]++;
		for (int k = 0; k < 8; k++) {
			blurred(x);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				x[i] -= 0.1 * b[i] *
					(b[i] * x[i] + c[i] - a[i]);
		}
		memcpy(c, a, sizeof(c));
		printf("%d %d\n", frame, bins[7]);
	}
	return 30;
}

/* Hidden states: 50 times forward and back in each of 15 iterations. */
static int hidden(void)
{
	for (int turn = 0; turn < 15; turn++) {
		for (int t = 0; t < 50; t++) {
#pragma omp parallel for
			for (int i = 0; i < SIDE; i++)
				a[(t + 1) * SIDE + i] =
					a[t * SIDE + i] * 0.5 + b[i] + 0.1;
		}
		for (int t = 50; t > 0; t--) {
#pragma omp parallel for
			for (int i = 0; i < SIDE; i++)
				c[(t - 1) * SIDE + i] =
					c[t * SIDE + i] * 0.5 + b[i];
		}
#pragma omp parallel for
		for (int i = 0; i < SIDE; i++)
			b[i] = a[i] * c[i];
	}
	return 15;
}

/* Chains that are tuned each ten of the first 50, and then 150 samples. */
static int chains(void)
{
	double scale = 1;

	for (int t = 0; t < 200; t++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			const double to = a[i] + scale * sin(i + t);

			if (to * to < a[i] * a[i] + 1)
				a[i] = to;
		}
		if (t < 50 && t % 10 == 9) {
			int taken = 0;

#pragma omp parallel for reduction(+ : taken)
			for (int i = 0; i < N; i++)
				taken += a[i] > 0;
			scale *= taken > N / 2 ? 1.1 : 0.9;
		}
	}
	return 200;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} all[] = {{"burgers", burgers}, {"adi", adi},
		   {"potts", potts},	 {"subspace", subspace},
		   {"plasma", plasma},	 {"batches", batches},
		   {"mlp", mlp},	 {"between", between},
		   {"channel", channel}, {"alloy", alloy},
		   {"factors", factors}, {"film", film},
		   {"hidden", hidden},	 {"chains", chains}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name))
			printf("steps %d\n", all[i].run());
	return 0;
}
