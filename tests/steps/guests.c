/* SPDX-License-Identifier: MIT */
/*
 * guests.c - programs as people write them, with the steps that a person would
 * name written down before the first run; guests.f90, guests.cpp and guests.py
 * have more:
 *
 *	lenet		90	batches: 3 epochs of 30, a test after each
 *	quasi		60	L-BFGS iterations, searches along a line
 *	leapfrog	500	time steps, the energy every 50
 *	sph		120	time steps of smoothed particles
 *	implicit	30	time steps, conjugate gradients until converged
 *	routes		16	sources, relaxed until nothing changes
 *	ising		600	sweeps of two colours, measured every 10
 *	blocks		24	block columns of an LU factorisation
 *	radix		20	arrays sorted in 8 passes each
 *	recurrent	50	batches, unrolled over 12 moments
 *	fdtd		300	time steps in one region each
 *	gibbs		200	iterations, of which 150 are tallied
 *
 *	guests NAME
 */
#define N 4096
#include "programs.h"

static double a[N], b[N], c[N], d[N], e[N], w[N], g[N];

static void conv(const double *in, double *out, int k)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		out[i] = in[i - 1] * k + in[i] + in[i + 1];
}

static void relu_pool(double *x)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < N; i++)
		x[i] = x[i] > 0 ? x[i] * 0.25 : 0;
}

static double dot(const double *x, const double *y)
{
	double sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += x[i] * y[i];
	return sum;
}

static void axpy(double s, const double *x, double *y)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		y[i] += s * x[i];
}

static void copy(const double *x, double *y)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		y[i] = x[i];
}

static double lenet_forward(void)
{
	conv(a, b, 1);
	relu_pool(b);
	conv(b, c, 2);
	relu_pool(c);
	return dot(c, w);
}

static void lenet_backward(double loss)
{
	axpy(loss * 1e-9, c, g);
	conv(c, d, 3);
	conv(d, e, 4);
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		w[i] = 0.999 * w[i] - 1e-6 * g[i];
}

static int lenet(void)
{
	double correct = 0;
	int steps = 0;

	for (int epoch = 0; epoch < 3; epoch++) {
		for (int batch = 0; batch < size / 3; batch++, steps++)
			lenet_backward(lenet_forward());
		for (int batch = 0; batch < 10; batch++)
			correct += lenet_forward() > 0;
	}
	fprintf(stderr, "%g\n", correct);
	return steps;
}

#define HISTORY 5
static double s_of[HISTORY][N], y_of[HISTORY][N];

static double objective(const double *x)
{
	double sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum += log1p(exp(-x[i])) + 0.01 * x[i] * x[i];
	return sum;
}

static void gradient(const double *x, double *out)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		out[i] = -1 / (1 + exp(x[i])) + 0.02 * x[i];
}

static int quasi(void)
{
	for (int t = 0; t < size; t++) {
		const int known = t < HISTORY ? t : HISTORY;
		int tries = t % 7 == 3 ? 3 : t % 3 == 1 ? 2 : 1;
		double alpha[HISTORY];

		gradient(a, g);
		copy(g, d);
		for (int k = known - 1; k >= 0; k--) {
			alpha[k] = dot(s_of[k], d) * 1e-9;
			axpy(-alpha[k], y_of[k], d);
		}
		for (int k = 0; k < known; k++)
			axpy(alpha[k] - dot(y_of[k], d) * 1e-9, s_of[k], d);
		do {
			copy(a, b);
			axpy(-0.1 * tries, d, b);
			c[0] = objective(b);
		} while (--tries);
		copy(d, s_of[t % HISTORY]);
		copy(g, y_of[t % HISTORY]);
		copy(b, a);
	}
	return size;
}

static double px[512], vx[512], ax[512];

static void accelerations(void)
{
#pragma omp parallel for schedule(dynamic, 16)
	for (int i = 0; i < 512; i++) {
		ax[i] = 0;
		for (int j = 0; j < 512; j += 8)
			ax[i] += (px[j] - px[i]) / (0.1 + fabs(px[j] - px[i]));
	}
}

static int leapfrog(void)
{
	accelerations();
	for (int t = 0; t < size; t++) {
#pragma omp parallel for
		for (int i = 0; i < 512; i++) {
			vx[i] += 0.0005 * ax[i];
			px[i] += 0.001 * vx[i];
		}
		accelerations();
#pragma omp parallel for
		for (int i = 0; i < 512; i++)
			vx[i] += 0.0005 * ax[i];
		if (t % 50 == 0) {
			double energy = 0;
#pragma omp parallel for reduction(+ : energy)
			for (int i = 0; i < 512; i++)
				energy += vx[i] * vx[i];
			fprintf(stderr, "%d %g\n", t, energy);
		}
	}
	return size;
}

static int sph(void)
{
	double dt = 1e-3, fastest;

#pragma omp parallel for
	for (int i = 0; i < N; i++)
		a[i] = sin(i);
	for (int t = 0; t < size; t++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] = floor(a[i] * 16);
#pragma omp parallel for schedule(guided)
		for (int i = 8; i < N - 8; i++)
			for (int j = -8; j <= 8; j++)
				c[i] += 1e-6 * a[i + j];
#pragma omp parallel for schedule(guided)
		for (int i = 8; i < N - 8; i++)
			d[i] = c[i - 8] - c[i + 8];
		fastest = 0;
#pragma omp parallel for reduction(max : fastest)
		for (int i = 0; i < N; i++)
			fastest = fmax(fastest, fabs(e[i]));
		dt = fmin(1e-3, 0.4 / (fastest + 1e-9));
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			e[i] += dt * d[i];
			a[i] += dt * e[i];
		}
	}
	return size;
}

static int implicit(void)
{
	for (int t = 0; t < size; t++) {
		const int needed = 18 + t * 7 % 8;
		double rho;

#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			b[i] = a[i] + 0.5 * (a[i - 1] - 2 * a[i] + a[i + 1]);
		copy(b, c);
		copy(c, d);
		rho = dot(c, c);
		for (int k = 0; k < needed; k++) {
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				e[i] = 3 * d[i] - d[i - 1] - d[i + 1];
			const double alpha = rho / (dot(d, e) + 1e-30);
			axpy(alpha, d, a);
			axpy(-alpha, e, c);
			rho = dot(c, c);
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				d[i] = c[i] + 0.1 * d[i];
		}
	}
	return size;
}

static int routes(void)
{
	for (int source = 0; source < size; source++) {
		const int rounds = 6 + source * 5 % 9;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = i == source ? 0 : 1e30;
		for (int k = 0; k < rounds; k++) {
			int changed = 0;
#pragma omp parallel for reduction(| : changed)
			for (int i = 1; i < N; i++) {
				b[i] = fmin(a[i], a[i - 1] + 1);
				changed |= b[i] < a[i];
			}
#pragma omp parallel for
			for (int i = 1; i < N; i++)
				a[i] = b[i];
			c[0] = changed;
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			c[i] += 1 / (1 + a[i]);
	}
	return size;
}

static signed char spin[N];

static void colour(int first)
{
#pragma omp parallel for
	for (int i = 2 + first; i < N - 2; i += 2)
		spin[i] = spin[i - 1] + spin[i + 1] > i % 3 - 1 ? 1 : -1;
}

static int ising(void)
{
	for (int t = 0; t < size; t++) {
		colour(0);
		colour(1);
		if (t % 10 == 9) {
			int m = 0;
#pragma omp parallel for reduction(+ : m)
			for (int i = 0; i < N; i++)
				m += spin[i];
			c[t % N] = m;
		}
	}
	return size;
}

static int blocks(void)
{
	for (int k = 0; k < size; k++) {
		for (int j = 0; j < 4; j++) {
#pragma omp parallel for
			for (int i = k; i < N; i++)
				a[i] /= 1.0001;
		}
#pragma omp parallel for
		for (int i = k * 64; i < N; i++)
			b[i] -= a[k] * b[k];
		for (int j = k + 1; j < size; j++) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				c[i] -= 1e-6 * a[i] * b[j];
		}
	}
	return size;
}

static int radix(void)
{
	for (int t = 0; t < size; t++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = (i * 2654435761u + (unsigned int)t) % 65536;
		for (int pass = 0; pass < 8; pass++) {
#pragma omp parallel
			{
#pragma omp for
				for (int i = 0; i < N; i++)
					b[i] = (int)a[i] >> pass;
			}
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				c[i] = a[N - 1 - i];
			copy(c, a);
		}
		d[0] = dot(a, b);
	}
	return size;
}

static int recurrent(void)
{
	for (int t = 0; t < size; t++) {
		for (int m = 0; m < 12; m++) {
			conv(a, b, m);
			relu_pool(b);
		}
		c[0] = objective(b);
		for (int m = 11; m >= 0; m--) {
			gradient(b, g);
			conv(g, d, m);
			axpy(1e-9, d, e);
		}
		if (sqrt(dot(e, e)) > 1e9)
			axpy(-0.5, e, e);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] -= 1e-3 * e[i] / (1e-8 + sqrt(fabs(g[i])));
	}
	return size;
}

static int fdtd(void)
{
	for (int t = 0; t < size; t++) {
		a[N / 2] = sin(0.1 * t);
#pragma omp parallel
		{
#pragma omp for
			for (int i = 1; i < N; i++)
				b[i] += 0.5 * (a[i] - a[i - 1]);
#pragma omp for
			for (int i = 0; i < N - 1; i++)
				a[i] += 0.5 * (b[i + 1] - b[i]);
		}
	}
	return size;
}

static void draw_rows(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		a[i] = 0.5 * a[i] + b[i] + sin(i);
}

static void draw_columns(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		b[i] = 0.5 * b[i] + cos(a[i]);
}

static int gibbs(void)
{
	for (int t = 0; t < size + 50; t++) {
		draw_rows();
		draw_columns();
		c[0] = dot(a, b);
		if (t >= 50)
			axpy(1.0 / size, a, d);
	}
	return size + 50;
}

int main(int argc, char **argv)
{
	static const struct program programs[] = {
		{"lenet", lenet, 90},	     {"quasi", quasi, 60},
		{"leapfrog", leapfrog, 500}, {"sph", sph, 120},
		{"implicit", implicit, 30},  {"routes", routes, 16},
		{"ising", ising, 600},	     {"blocks", blocks, 24},
		{"radix", radix, 20},	     {"recurrent", recurrent, 50},
		{"fdtd", fdtd, 300},	     {"gibbs", gibbs, 150}};

	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
