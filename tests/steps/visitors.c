/* SPDX-License-Identifier: MIT */
/*
 * visitors.c - programs with their steps written down before the
 * first run; visitors.py has those on libraries:
 *
 *	mudball		80	time steps of gravity, the near 4 times each
 *	amr		60	time steps on 3 levels, regridded every 10
 *	spectral	120	time steps, 3 transforms of 8 passes each
 *	restarts	90	k-means iterations, 6 restarts of 15
 *	evolve		70	generations, the best copied every 5
 *	walkers		150	steps of a chain of 4 walkers
 *	vcycle		35	V cycles of 5 levels, smoothed twice
 *	components	40	graphs, labels spread until none changes
 *	gmres		25	restarts of 12 inner iterations
 *	lulesh		110	time steps in 14 regions
 *	minife		50	iterations of conjugate gradients after assembly
 *	quicksilver	45	cycles of particles: born, tracked, tallied
 *	auction		30	rounds of bids until all are sold
 *	stencils	200	time steps, an image written every 25
 *	adaboost	60	rounds, 7 features tried in each
 *
 *	visitors NAME
 */
#define N 4096
#include "programs.h"

static double x[N], v[N], f[N], u[N], r[N], p[N];

#define EACH(what)                                                             \
	do {                                                                   \
		_Pragma("omp parallel for") for (int i = 1; i < N - 1; i++)    \
			what;                                                  \
	} while (0)

static void far_forces(void)
{
	EACH(f[i] = 1 / (1 + x[i] * x[i]));
}

static void near_forces(void)
{
	EACH(r[i] = x[i + 1] - 2 * x[i] + x[i - 1]);
}

static int mudball(void)
{
	for (int t = 0; t < size; t++) {
		far_forces();
		EACH(v[i] += 1e-3 * f[i]);
		for (int sub = 0; sub < 4; sub++) {
			near_forces();
			EACH(v[i] += 1e-4 * r[i]);
			EACH(x[i] += 1e-3 * v[i]);
		}
		EACH(p[i] = 0.5 * v[i] * v[i]);
	}
	return size;
}

static void advance(int level)
{
	EACH(u[i] += 1e-3 * level * (u[i + 1] - u[i - 1]));
	if (level < 3)
		for (int twice = 0; twice < 2; twice++)
			advance(level + 1);
	EACH(r[i] = 0.5 * (u[i] + r[i]));
}

static int amr(void)
{
	for (int t = 0; t < size; t++) {
		if (t % 10 == 0) {
			EACH(p[i] = fabs(u[i + 1] - u[i]));
			EACH(f[i] = p[i] > 0.5);
		}
		EACH(v[i] = 0.4 / (1 + fabs(u[i])));
		advance(1);
	}
	return size;
}

static void transform(double *to, const double *from)
{
	for (int pass = 0; pass < 8; pass++)
		EACH(to[i] = from[i] + from[(i ^ (1 << pass)) & (N - 1)]);
}

static int spectral(void)
{
	for (int t = 0; t < size; t++) {
		transform(r, u);
		EACH(r[i] *= exp(-1e-6 * i));
		transform(p, r);
		EACH(p[i] = 1e-3 * p[i] * p[i]);
		transform(f, p);
		EACH(u[i] = 0.99 * u[i] + 1e-9 * f[i]);
	}
	return size;
}

static int restarts(void)
{
	for (int again = 0; again < 6; again++) {
		EACH(u[i] = sin(i * (again + 1)));
		for (int k = 0; k < size / 6; k++) {
			EACH(r[i] = floor(8 * u[i]));
			EACH(p[i] = 0.5 * (r[i] + p[i]));
			EACH(u[i] = 0.9 * u[i] + 0.1 * p[i]);
		}
		EACH(f[i] = fmin(f[i], p[i]));
	}
	return size / 6 * 6;
}

static int evolve(void)
{
	for (int g = 0; g < size; g++) {
		EACH(f[i] = -x[i] * x[i]);
		EACH(u[i] = f[i] > f[i - 1] ? x[i] : x[i - 1]);
		EACH(x[i] = u[i] + 0.01 * sin(i * g));
		if (g % 5 == 4)
			EACH(p[i] = x[i]);
	}
	return size;
}

static double likelihood(void)
{
	double sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum -= (x[i] - u[i]) * (x[i] - u[i]);
	return sum;
}

static int walkers(void)
{
	double was = 0;

	for (int t = 0; t < size; t++) {
		for (int w = 0; w < 4; w++) {
			EACH(u[i] = x[i] + 0.1 * cos(i + t * w));
			const double now = likelihood();
			if (now > was - 1 || (t + w) % 3)
				EACH(x[i] = u[i]);
			was = now;
		}
		EACH(p[i] += x[i]);
	}
	return size;
}

static void smooth(int n)
{
#pragma omp parallel for
	for (int i = 1; i < n - 1; i++)
		u[i] = 0.5 * (u[i - 1] + u[i + 1]) - r[i];
}

static void down(int level)
{
	const int n = N >> level;

	smooth(n);
	smooth(n);
	if (level == 4)
		return;
#pragma omp parallel for
	for (int i = 1; i < n / 2; i++)
		r[i] = 0.5 * (r[2 * i] + u[2 * i]);
	down(level + 1);
#pragma omp parallel for
	for (int i = n / 2; i > 0; i--)
		u[2 * i - 1] += 0.1 * u[i];
	smooth(n);
}

static int vcycle(void)
{
	for (int k = 0; k < size; k++) {
		down(0);
		EACH(f[i] = fabs(u[i] - r[i]));
	}
	return size;
}

static int components(void)
{
	for (int g = 0; g < size; g++) {
		EACH(x[i] = i);
		for (int k = 0; k < 4 + g * 7 % 9; k++) {
			EACH(u[i] = fmin(x[i], x[(i * 7 + g) % N]));
			EACH(x[i] = u[i]);
		}
		EACH(p[i] += x[i] == 0);
	}
	return size;
}

static int gmres(void)
{
	for (int again = 0; again < size; again++) {
		EACH(r[i] = 1 - 2 * x[i] + x[i + 1]);
		for (int k = 0; k < 12; k++) {
			EACH(p[i] = 2 * r[i] - r[i - 1]);
			for (int j = 0; j <= k; j++)
				EACH(p[i] -= 0.01 * f[i]);
			EACH(r[i] = 0.5 * p[i]);
		}
		EACH(x[i] += 0.1 * r[i]);
	}
	return size;
}

static int lulesh(void)
{
	for (int t = 0; t < size; t++) {
		EACH(f[i] = 0);
		EACH(r[i] = p[i] + u[i]);
		EACH(f[i] += r[i + 1] - r[i]);
		EACH(f[i] += 0.1 * (v[i + 1] - v[i - 1]));
		EACH(v[i] += 1e-4 * f[i]);
		EACH(v[i] = fabs(v[i]) < 1e-9 ? 0 : v[i]);
		EACH(x[i] += 1e-4 * v[i]);
		EACH(u[i] = x[i + 1] - x[i]);
		EACH(r[i] = u[i] * u[i]);
		EACH(p[i] = 0.3 * r[i]);
		EACH(p[i] = fmax(p[i], 0));
		EACH(r[i] = sqrt(fabs(p[i])));
		EACH(u[i] *= 0.999);
		EACH(f[i] = 0.1 / (1 + r[i]));
	}
	return size;
}

static int minife(void)
{
	for (int element = 0; element < 20; element++)
		EACH(r[i] += sin(i + element));
	EACH(r[i] *= 0.5);
	EACH(p[i] = r[i]);
	for (int k = 0; k < size; k++) {
		EACH(f[i] = 2 * p[i] - p[i - 1] - p[i + 1]);
		v[0] = likelihood();
		EACH(x[i] += 0.1 * p[i]);
		EACH(r[i] -= 0.1 * f[i]);
		v[1] = likelihood();
		EACH(p[i] = r[i] + 0.5 * p[i]);
	}
	return size;
}

static int quicksilver(void)
{
	for (int t = 0; t < size; t++) {
		EACH(x[i] = i % 10 ? x[i] : t);
		EACH(u[i] = x[i] < 0 ? 0 : x[i]);
		for (int left = 3 + t % 4; left; left--) {
			EACH(x[i] += 0.1 * v[i]);
			EACH(v[i] = sin(x[i]));
		}
		EACH(p[i] += x[i]);
		EACH(f[i] = p[i] / (t + 1));
	}
	return size;
}

static int auction(void)
{
	for (int t = 0; t < size; t++) {
		EACH(u[i] = 0);
		for (int bids = 2 + t * 5 % 7; bids; bids--) {
			EACH(r[i] = x[i] - p[i]);
			EACH(p[i] += r[i] > 0 ? 0.1 : 0);
			EACH(u[i] += r[i]);
		}
		EACH(x[i] = 0.9 * x[i] + 0.1 * u[i]);
		EACH(f[i] = x[i] > 0);
	}
	return size;
}

static int stencils(void)
{
	for (int t = 0; t < size; t++) {
		EACH(u[i] = 0.25 * (x[i - 1] + 2 * x[i] + x[i + 1]));
		EACH(x[i] = u[i]);
		if (t % 25 == 0)
			EACH(p[i] = floor(255 * x[i]));
	}
	return size;
}

static int adaboost(void)
{
	for (int t = 0; t < size; t++) {
		EACH(v[i] = exp(-f[i]));
		for (int feature = 0; feature < 7; feature++) {
			EACH(r[i] = v[i] * (x[i] > feature));
			u[feature] = likelihood();
		}
		EACH(f[i] += 0.1 * r[i]);
	}
	return size;
}

int main(int argc, char **argv)
{
	static const struct program programs[] = {
		{"mudball", mudball, 80},    {"amr", amr, 60},
		{"spectral", spectral, 120}, {"restarts", restarts, 90},
		{"evolve", evolve, 70},	     {"walkers", walkers, 150},
		{"vcycle", vcycle, 35},	     {"components", components, 40},
		{"gmres", gmres, 25},	     {"lulesh", lulesh, 110},
		{"minife", minife, 50},	     {"quicksilver", quicksilver, 45},
		{"auction", auction, 30},    {"stencils", stencils, 200},
		{"adaboost", adaboost, 60}};

	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
