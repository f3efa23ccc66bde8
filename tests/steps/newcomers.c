/* SPDX-License-Identifier: MIT */
/*
 * newcomers.c - programs as people write them, for the fifth set that no rule
 * was set on; the number behind each is its steps, written down before its
 * first run, and what else a person may name.  Where none is right, too, it
 * says so:
 *
 *	kmeans		iterations of all 5 restarts (it says how many)
 *	em		80	iterations of a mixture
 *	som		600	samples of 12 epochs; or 12
 *	rbm		90	batches of contrastive divergence, 3 ways each
 *	lstm		60	sequences, 20 moments forward and backward
 *	gpt		25	updates of 4 microbatches, evaluated each 5
 *	ppo		20	rollouts, 4 epochs of 4 minibatches; or 320
 *	rivals		70	a judge's update and a generator's
 *	reheat		120	temperatures of 10 sweeps, 3 reheats; or 1200
 *	lattice		240	time steps, an output each 40
 *	newton		25	time steps of Newton steps, each solved by CG
 *	spectral	50	time steps of Fourier transforms
 *	amr		90	time steps of three levels, a mesh each 8
 *	barnes		80	time steps, the tree built each 5
 *	stages		none	50 batches, and then 40 of another kind; or 50,
 *			40, 90
 *	tested		120	batches of 3 epochs; then 30 of a test
 *	folds		320	batches of 8 epochs in 4 folds; or 32, 4
 *	search		180	iterations of 6 settings; or 6
 *	ensemble	240	batches of 8 networks; then 20 predictions; or 8
 *	early		batches of epochs of any length (it says how many)
 *	loader		100	batches, that two threads prepare
 *
 *	newcomers NAME
 */
#define N 4096
#include "programs.h"

#include <pthread.h>

static double a[N], b[N], c[N], d[N], e[N], w[N], g[N], h[N];

static unsigned int seed = 12345;

static unsigned int roll(unsigned int below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

/* --- clusters ------------------------------------------------------------- */

static double centers[8];
static int label[N];

static void seed_centers(void)
{
	centers[0] = a[roll(N)];
	for (int k = 1; k < 8; k++) {
		double far = 0;

#pragma omp parallel for reduction(max : far)
		for (int i = 0; i < N; i++) {
			d[i] = fabs(a[i] - centers[k - 1]);
			far = fmax(far, d[i]);
		}
		centers[k] = far + roll(100) * 0.01;
	}
}

static int kmeans(void)
{
	int iterations = 0;

#pragma omp parallel for
	for (int i = 0; i < N; i++)
		a[i] = (i * 37 % 1000) * 0.01;
	for (int restart = 0; restart < 5; restart++) {
		const int most = 14 + (int)roll(12);
		double inertia = 0;

		seed_centers();
		for (int it = 0; it < most; it++) {
			double sums[8] = {0}, counts[8] = {0};

#pragma omp parallel for
			for (int i = 0; i < N; i++) {
				int best = 0;

				for (int k = 1; k < 8; k++) {
					if (fabs(a[i] - centers[k]) <
					    fabs(a[i] - centers[best]))
						best = k;
				}
				label[i] = best;
			}
#pragma omp parallel for reduction(+ : sums, counts)
			for (int i = 0; i < N; i++) {
				sums[label[i]] += a[i];
				counts[label[i]]++;
			}
			for (int k = 0; k < 8; k++) {
				if (counts[k] > 0)
					centers[k] = sums[k] / counts[k];
			}
			iterations++;
		}
#pragma omp parallel for reduction(+ : inertia)
		for (int i = 0; i < N; i++)
			inertia += fabs(a[i] - centers[label[i]]);
		printf("restart %d: %g\n", restart, inertia);
	}
	return iterations;
}

static int em(void)
{
	double mu[3] = {0.1, 0.5, 0.9}, var = 0.1;

	for (int i = 0; i < N; i++)
		a[i] = (i % 977) / 977.0;
	for (int it = 0; it < size; it++) {
		double likely = 0;

#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] = exp(-(a[i] - mu[0]) * (a[i] - mu[0]) / var);
#pragma omp parallel for reduction(+ : likely)
		for (int i = 0; i < N; i++) {
			c[i] = b[i] + exp(-pow(a[i] - mu[1], 2) / var);
			likely += log(c[i] + 1e-9);
		}
		for (int k = 0; k < 3; k++) {
			double up = 0, down = 0;

#pragma omp parallel for reduction(+ : up, down)
			for (int i = 0; i < N; i++) {
				up += a[i] * b[i] / (c[i] + 1e-9);
				down += b[i] / (c[i] + 1e-9);
			}
			mu[k] += 0.1 * (up / (down + 1e-9) - mu[k]);
		}
		double spread = 0;
#pragma omp parallel for reduction(+ : spread)
		for (int i = 0; i < N; i++)
			spread += (a[i] - mu[0]) * (a[i] - mu[0]);
		var = 0.9 * var + 0.1 * spread / N;
		if (it % 16 == 0)
			printf("%d %g\n", it, likely);
	}
	return size;
}

static int som(void)
{
	for (int epoch = 0; epoch < 12; epoch++) {
		for (int sample = 0; sample < 50; sample++) {
			const double x = roll(1000) * 1e-3;
			int best = 0;

#pragma omp parallel for
			for (int i = 0; i < N; i++)
				d[i] = (w[i] - x) * (w[i] - x);
			for (int i = 1; i < N; i++) {
				if (d[i] < d[best])
					best = i;
			}
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				w[i] += 0.1 / (1 + abs(i - best)) * (x - w[i]);
		}
	}
	return 600;
}

/* --- networks ------------------------------------------------------------- */

static void matmul(const double *x, const double *y, double *out)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		out[i] = x[i] * 0.9 + y[(i * 5) % N] * 0.1;
}

static void add_bias(double *x)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] += 0.01;
}

static void sigmoid(double *x)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] = 1 / (1 + exp(-x[i]));
}

static void sigmoid_back(double *x)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] *= c[i] * (1 - c[i]);
}

static double cross_entropy(const double *x)
{
	double sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++)
		sum -= log(fabs(x[i]) + 1e-6);
	return sum;
}

static void sgd(double *x, const double *slope)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] -= 1e-3 * slope[i];
}

static void bernoulli(double *x)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] = x[i] > 0.5 ? 1 : 0;
}

static int rbm(void)
{
	for (int batch = 0; batch < size; batch++) {
		matmul(a, w, b);
		sigmoid(b);
		for (int i = 0; i < N; i++)
			h[i] = b[i];
		for (int k = 0; k < 3; k++) {
			bernoulli(b);
			matmul(b, w, d);
			sigmoid(d);
			matmul(d, w, b);
			sigmoid(b);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] += 1e-3 * (h[i] * a[i] - b[i] * d[i]);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			e[i] += 1e-3 * (a[i] - d[i]);
	}
	return size;
}

static int lstm(void)
{
	for (int sequence = 0; sequence < size; sequence++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			c[i] = g[i] = 0;
		for (int t = 0; t < 20; t++) {
			matmul(a, w, b);
			matmul(c, w, d);
#pragma omp parallel for
			for (int i = 0; i < N; i++) {
				const double gate = 1 / (1 + exp(-b[i] - d[i]));

				g[i] = gate * g[i] + (1 - gate) * tanh(b[i]);
				c[i] = gate * tanh(g[i]);
			}
		}
		cross_entropy(c);
		for (int t = 19; t >= 0; t--) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				d[i] = h[i] * (1 - g[i] * g[i]);
			matmul(d, w, h);
			matmul(d, c, e);
		}
		double norm = 0;
#pragma omp parallel for reduction(+ : norm)
		for (int i = 0; i < N; i++)
			norm += e[i] * e[i];
		if (norm > 1) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				e[i] /= norm;
		}
		sgd(w, e);
	}
	return size;
}

static void layernorm(double *x)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] = (x[i] - 0.1) * 0.9;
}

static void attention(double *x)
{
#pragma omp parallel for collapse(2)
	for (int head = 0; head < 4; head++) {
		for (int i = 0; i < N / 4; i++)
			x[head * N / 4 + i] *= 0.99;
	}
}

static double gpt_forward(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		b[i] = w[(i * 17) % N];
	for (int layer = 0; layer < 3; layer++) {
		layernorm(b);
		matmul(b, w, c);
		attention(c);
		matmul(c, w, b);
		layernorm(b);
		matmul(b, w, c);
		sigmoid(c);
		matmul(c, w, b);
	}
	layernorm(b);
	matmul(b, w, d);
	return cross_entropy(d);
}

static void gpt_backward(void)
{
	matmul(d, w, g);
	for (int layer = 2; layer >= 0; layer--) {
		matmul(g, w, c);
		matmul(g, b, h);
		sigmoid_back(c);
		matmul(c, w, g);
		matmul(c, b, h);
		attention(g);
		matmul(g, w, c);
	}
}

static int gpt(void)
{
	for (int step = 0; step < size; step++) {
		if (step % 5 == 0) {
			double loss = 0;

			for (int batch = 0; batch < 3; batch++)
				loss += gpt_forward();
			printf("val %g\n", loss);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			g[i] = h[i] = 0;
		for (int micro = 0; micro < 4; micro++) {
			gpt_forward();
			gpt_backward();
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			e[i] = 0.9 * e[i] + 0.1 * h[i];
			w[i] -= 1e-3 * e[i];
		}
	}
	return size;
}

static void policy(void)
{
	matmul(a, w, b);
	add_bias(b);
	sigmoid(b);
	matmul(b, w, c);
}

static int ppo(void)
{
	for (int update = 0; update < size; update++) {
		for (int t = 0; t < 64; t++) {
			policy();
#pragma omp parallel for schedule(dynamic, 256)
			for (int env = 0; env < N; env++)
				a[env] = sin(a[env] + c[env]);
		}
#pragma omp parallel for
		for (int env = 0; env < N; env++)
			d[env] = a[env] * 0.99 - c[env];
		for (int epoch = 0; epoch < 4; epoch++) {
			for (int batch = 0; batch < 4; batch++) {
				policy();
				cross_entropy(c);
				matmul(d, w, g);
				sigmoid_back(g);
				matmul(g, w, e);
				sgd(w, e);
			}
		}
	}
	return size;
}

static int rivals(void)
{
	for (int it = 0; it < size; it++) {
		matmul(a, e, b);
		sigmoid(b);
		matmul(b, w, c);
		sigmoid(c);
		cross_entropy(c);
		sigmoid_back(d);
		matmul(d, w, g);
		sgd(w, g);
		matmul(a, e, b);
		sigmoid(b);
		matmul(b, w, c);
		sigmoid(c);
		cross_entropy(c);
		sigmoid_back(d);
		matmul(d, w, g);
		sigmoid_back(g);
		matmul(g, e, h);
		sgd(e, h);
	}
	return size;
}

/* --- physics -------------------------------------------------------------- */

static int reheat(void)
{
	for (int heat = 0; heat < 3; heat++) {
		double beta = 0.1;

		for (int temperature = 0; temperature < 40; temperature++) {
			double energy = 0;

			for (int sweep = 0; sweep < 10; sweep++) {
				for (int color = 0; color < 2; color++) {
#pragma omp parallel for
					for (int i = 1 + color; i < N - 1;
					     i += 2) {
						const double field =
							a[i - 1] + a[i + 1];

						a[i] = tanh(beta * field);
					}
				}
			}
#pragma omp parallel for reduction(+ : energy)
			for (int i = 1; i < N; i++)
				energy -= a[i] * a[i - 1];
			beta *= 1.05;
			c[temperature] = energy;
		}
	}
	return 120;
}

static int lattice(void)
{
	for (int i = 0; i < N; i++)
		a[i] = 1 + 0.01 * (i % 7);
	for (int t = 0; t < size; t++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] = a[i] - 0.6 * (a[i] - 1);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[(i + 1) % N] = b[i];
#pragma omp parallel for
		for (int i = 0; i < 128; i++)
			a[i] = a[N - 1 - i];
		if ((t + 1) % 40 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				d[i] = a[i] * 3;
			double mass = 0;
#pragma omp parallel for reduction(+ : mass)
			for (int i = 0; i < N; i++)
				mass += d[i];
			printf("%d %g\n", t, mass);
		}
	}
	return size;
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

static void solve(int most)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		d[i] = c[i];
	for (int k = 0; k < most; k++) {
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			e[i] = 2.1 * d[i] - d[i - 1] - d[i + 1];
		const double alpha = 1e-3 / (1 + dot(d, e));

		axpy(alpha, d, g);
		axpy(-alpha, e, c);
		dot(c, c);
	}
}

static int newton(void)
{
	for (int t = 0; t < size; t++) {
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] = a[i];
		const int steps = 2 + (int)roll(3);

		for (int k = 0; k < steps; k++) {
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				c[i] = b[i] - a[i] + a[i] * a[i] * a[i];
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				h[i] = 1 + 3 * a[i] * a[i];
			solve(5 + (int)roll(11));
			axpy(-1, g, a);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] = 0.99 * a[i] + 0.01;
	}
	return size;
}

static void fft(double *x)
{
	for (int half = 1; half < N; half *= 2) {
#pragma omp parallel for
		for (int i = 0; i < N / 2; i++) {
			const int at = i / half * half * 2 + i % half;
			const double left = x[at], right = x[at + half];

			x[at] = 0.7 * (left + right);
			x[at + half] = 0.7 * (left - right);
		}
	}
}

static int spectral(void)
{
	for (int t = 0; t < size; t++) {
		fft(a);
#pragma omp parallel for
		for (int k = 0; k < N; k++)
			b[k] = k * a[k] * 1e-4;
		fft(b);
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			c[i] = a[i] * b[i];
		fft(c);
#pragma omp parallel for
		for (int k = 0; k < N; k++)
			a[k] = (a[k] - 0.01 * c[k]) / (1 + 1e-6 * k);
		fft(a);
	}
	return size;
}

static void advance(int level)
{
#pragma omp parallel for
	for (int i = 0; i < N >> level; i++)
		b[i] = 0.5 * (a[i] + a[(i + 1) % N]);
#pragma omp parallel for
	for (int i = 1; i < N >> level; i++)
		a[i] -= 0.1 * (b[i] - b[i - 1]);
	if (level == 2)
		return;
	advance(level + 1);
	advance(level + 1);
#pragma omp parallel for
	for (int i = 0; i < N >> level; i++)
		a[i] = 0.9 * a[i] + 0.1 * b[i];
}

static int amr(void)
{
	for (int t = 0; t < size; t++) {
		if (t % 8 == 0) {
#pragma omp parallel for
			for (int i = 1; i < N; i++)
				d[i] = fabs(a[i] - a[i - 1]);
#pragma omp parallel for
			for (int i = 1; i < N - 1; i++)
				e[i] = d[i] > 0.1 ? 1 : 0;
#pragma omp parallel for
			for (int i = 0; i < N / 2; i++)
				c[i] = 0.5 * (a[2 * i] + a[2 * i + 1]);
		}
		double fastest = 0;
#pragma omp parallel for reduction(max : fastest)
		for (int i = 0; i < N; i++)
			fastest = fmax(fastest, fabs(a[i]));
		advance(0);
	}
	return size;
}

static int barnes(void)
{
	for (int t = 0; t < size; t++) {
		if (t % 5 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				label[i] = (int)(a[i] * 1000) & 0xfff;
			for (int bit = 0; bit < 12; bit += 4) {
#pragma omp parallel for
				for (int i = 0; i < N; i++)
					d[i] = label[i] >> bit & 15;
			}
#pragma omp parallel for schedule(dynamic, 64)
			for (int i = 0; i < N / 8; i++)
				e[i] = d[8 * i] + d[8 * i + 7];
		}
#pragma omp parallel for schedule(dynamic, 64)
		for (int i = 0; i < N; i++)
			g[i] = e[i / 8] * 1e-3 - a[i];
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			b[i] += 0.01 * g[i];
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			a[i] += 0.01 * b[i];
	}
	return size;
}

#include "newcomers.h"

int main(int argc, char **argv)
{
	static const struct program programs[] = {
		{"kmeans", kmeans, 0},	   {"em", em, 80},
		{"som", som, 0},	   {"rbm", rbm, 90},
		{"lstm", lstm, 60},	   {"gpt", gpt, 25},
		{"ppo", ppo, 20},	   {"rivals", rivals, 70},
		{"reheat", reheat, 0},	   {"lattice", lattice, 240},
		{"newton", newton, 25},	   {"spectral", spectral, 50},
		{"amr", amr, 90},	   {"barnes", barnes, 80},
		{"stages", stages, 0},	   {"tested", tested, 0},
		{"folds", folds, 0},	   {"search", search, 0},
		{"ensemble", ensemble, 0}, {"early", early, 0},
		{"loader", loader, 100},
	};

	return run_named(argc, argv, programs,
			 sizeof(programs) / sizeof(programs[0]));
}
