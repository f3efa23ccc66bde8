/* SPDX-License-Identifier: MIT */
/* pioneers_solvers.c - more of pioneers.c: solvers, and networks of time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double noise(void)
{
	return rand() / (double)RAND_MAX - 0.5;
}

/* --- water in soil: time steps that are halved where they don't settle --- */

enum { DEEP = 4000 };

static double head[DEEP], before[DEEP], last[DEEP], conduct[DEEP],
	capacity[DEEP], rest[DEEP], way[DEEP], image[DEEP], update[DEEP];

static double dot(const double *x, const double *y)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < DEEP; i++)
		sum += x[i] * y[i];
	return sum;
}

static void axpy(double a, const double *x, double *y)
{
#pragma omp parallel for
	for (int i = 0; i < DEEP; i++)
		y[i] += a * x[i];
}

static void assemble(double dt)
{
#pragma omp parallel for
	for (int i = 0; i < DEEP; i++) {
		conduct[i] = 1 / (1 + last[i] * last[i]);
		capacity[i] = 0.1 + 0.1 * exp(-last[i] * last[i]);
	}
#pragma omp parallel for
	for (int i = 1; i < DEEP - 1; i++)
		rest[i] = dt * conduct[i] *
				  (last[i - 1] - 2 * last[i] + last[i + 1]) -
			  capacity[i] * (last[i] - before[i]);
	rest[0] = rest[DEEP - 1] = 0;
}

static void apply(double dt)
{
#pragma omp parallel for
	for (int i = 1; i < DEEP - 1; i++)
		image[i] = capacity[i] * way[i] -
			   dt * conduct[i] *
				   (way[i - 1] - 2 * way[i] + way[i + 1]);
}

static int solve(double dt)
{
	double size = dot(rest, rest);
	const double goal = 1e-8 * size;
	int k = 0;

	memcpy(way, rest, sizeof(way));
	memset(update, 0, sizeof(update));
	while (size > goal && k < 60) {
		apply(dt);
		const double alpha = size / (dot(way, image) + 1e-30);

		axpy(alpha, way, update);
		axpy(-alpha, image, rest);
		const double next = dot(rest, rest);

		for (int i = 0; i < DEEP; i++)
			way[i] = rest[i] + next / size * way[i];
		size = next;
		k++;
	}
	return k;
}

int soil(void)
{
	double now = 0, dt = 0.01;
	int accepted = 0, tried = 0;

	for (int i = 0; i < DEEP; i++)
		head[i] = -1 + 0.3 * noise();
	while (accepted < 50) {
		double moved = 1;
		int turn = 0;

		memcpy(before, head, sizeof(head));
		memcpy(last, head, sizeof(head));
		last[0] = 0.5 + 0.5 * sin(now * 3);
		tried++;
		for (; turn < 8 && moved > 1e-4; turn++) {
			assemble(dt);
			solve(dt);
			moved = 0;
#pragma omp parallel for reduction(max : moved)
			for (int i = 0; i < DEEP; i++) {
				last[i] += update[i];
				moved = fmax(moved, fabs(update[i]));
			}
		}
		if (turn == 8) {
			dt /= 2;
			continue;
		}
		now += dt;
		memcpy(head, last, sizeof(head));
		dt *= turn < 5 ? 1.5 : 1;
		if (++accepted % 10 == 0)
			printf("t %f, water %f\n", now, dot(head, capacity));
	}
	printf("tries %d\n", tried);
	return accepted;
}

/* --- full approximation on many grids, which begins on the coarsest --- */

enum { FINE = 1024, LEVELS = 6 };

static double u[LEVELS][FINE + 1], f[LEVELS][FINE + 1], r[LEVELS][FINE + 1],
	old[LEVELS][FINE + 1];

static double operator(const double *x, int i, double h)
{
	return (2 * x[i] - x[i - 1] - x[i + 1]) / h / h + x[i] * x[i];
}

static void smooth(int l, int times)
{
	const int n = FINE >> l;
	const double h = 1.0 / n;

	for (int t = 0; t < times; t++) {
		for (int colour = 0; colour < 2; colour++) {
#pragma omp parallel for
			for (int i = 1 + colour; i < n; i += 2)
				u[l][i] += (f[l][i] - operator(u[l], i, h)) /
					   (2 / h / h + 2 * fabs(u[l][i]));
		}
	}
}

static void cycle(int l)
{
	const int n = FINE >> l, half = n / 2;
	const double h = 1.0 / n;

	if (l == LEVELS - 1) {
		smooth(l, 20);
		return;
	}
	smooth(l, 2);
#pragma omp parallel for
	for (int i = 1; i < n; i++)
		r[l][i] = f[l][i] - operator(u[l], i, h);
#pragma omp parallel for
	for (int i = 1; i < half; i++) {
		u[l + 1][i] = old[l + 1][i] = u[l][2 * i];
		f[l + 1][i] =
			(r[l][2 * i - 1] + 2 * r[l][2 * i] + r[l][2 * i + 1]) /
			4;
	}
#pragma omp parallel for
	for (int i = 1; i < half; i++)
		f[l + 1][i] += operator(old[l + 1], i, 2 * h);
	cycle(l + 1);
#pragma omp parallel for
	for (int i = 1; i < n; i++)
		u[l][i] += ((u[l + 1][i / 2] - old[l + 1][i / 2]) +
			    (u[l + 1][(i + 1) / 2] - old[l + 1][(i + 1) / 2])) /
			   2;
	smooth(l, 2);
}

int grids(void)
{
	double size = 1;
	int cycles = 0;

	for (int l = LEVELS - 1; l >= 0; l--) {
		const int n = FINE >> l;

#pragma omp parallel for
		for (int i = 1; i < n; i++) {
			f[l][i] = 40 * sin(3.14159 * i / n);
			if (l < LEVELS - 1)
				u[l][i] = (u[l + 1][i / 2] +
					   u[l + 1][(i + 1) / 2]) /
					  2;
		}
		if (l)
			cycle(l);
	}
	while (size > 1e-9 && cycles < 30) {
		cycle(0);
		size = 0;
#pragma omp parallel for reduction(max : size)
		for (int i = 1; i < FINE; i++)
			size = fmax(size, fabs(f[0][i] - operator(u[0], i,
								  1.0 / FINE)));
		printf("cycle %d: %g\n", ++cycles, size);
	}
	return cycles;
}

/* --- a generator and its critic, which learns five times as often --- */

enum { ROWS = 32, IN = 48, OUT = 48 };

static double maker[OUT][IN], critic[OUT][IN], z[ROWS][IN], fake[ROWS][OUT],
	real[ROWS][OUT], judged[ROWS][OUT], maker_slope[OUT][IN],
	critic_slope[OUT][IN];

static void layer(const double (*w)[IN], const double (*x)[IN],
		  double (*y)[OUT])
{
#pragma omp parallel for
	for (int row = 0; row < ROWS; row++) {
		for (int o = 0; o < OUT; o++) {
			double sum = 0;

			for (int i = 0; i < IN; i++)
				sum += w[o][i] * x[row][i];
			y[row][o] = sum > 0 ? sum : 0.2 * sum;
		}
	}
}

static void slope(double (*g)[IN], const double (*x)[IN], double by)
{
#pragma omp parallel for
	for (int o = 0; o < OUT; o++) {
		for (int i = 0; i < IN; i++) {
			for (int row = 0; row < ROWS; row++)
				g[o][i] += by * judged[row][o] * x[row][i];
		}
	}
}

static void rmsprop(double (*w)[IN], double (*g)[IN], double clip)
{
#pragma omp parallel for
	for (int o = 0; o < OUT; o++) {
		for (int i = 0; i < IN; i++) {
			w[o][i] = fmin(clip,
				       fmax(-clip, w[o][i] - 1e-4 * g[o][i]));
			g[o][i] = 0;
		}
	}
}

static void draw(double (*x)[IN])
{
	for (int i = 0; i < ROWS * IN; i++)
		x[i / IN][i % IN] = noise();
}

int wasserstein(void)
{
	int turn;

	for (int i = 0; i < OUT * IN; i++) {
		maker[i / IN][i % IN] = noise();
		critic[i / IN][i % IN] = noise() * 0.02;
	}
	for (turn = 0; turn < 70; turn++) {
		const int times = turn < 5 || turn % 50 == 0 ? 20 : 5;

		for (int k = 0; k < times; k++) {
			draw(real);
			layer(critic, real, judged);
			slope(critic_slope, real, -1);
			draw(z);
			layer(maker, z, fake);
			layer(critic, fake, judged);
			slope(critic_slope, fake, 1);
			rmsprop(critic, critic_slope, 0.01);
		}
		draw(z);
		layer(maker, z, fake);
		layer(critic, fake, judged);
#pragma omp parallel for
		for (int row = 0; row < ROWS; row++) {
			for (int o = 0; o < OUT; o++)
				judged[row][o] *= critic[o][o];
		}
		slope(maker_slope, z, -1);
		rmsprop(maker, maker_slope, 10);
		if (turn % 25 == 24) {
			for (int i = 0; i < 4; i++) {
				draw(z);
				layer(maker, z, fake);
			}
			printf("%d: %f\n", turn, fake[0][0]);
		}
	}
	return turn;
}

/* --- a recurrent network, windows of 16 letters, a text now and then --- */

enum { CELLS = 48, LETTERS = 32, WINDOW = 16 };

static double gates[4 * CELLS][CELLS + LETTERS],
	gate_slope[4 * CELLS][CELLS + LETTERS],
	cache[4 * CELLS][CELLS + LETTERS];
static double cell[WINDOW + 1][CELLS], out[WINDOW + 1][CELLS],
	open[WINDOW][4 * CELLS], logits[WINDOW][LETTERS], words[LETTERS][CELLS],
	dout[CELLS];

static void lstm_step(int t, int letter)
{
#pragma omp parallel for
	for (int g = 0; g < 4 * CELLS; g++) {
		double sum = gates[g][CELLS + letter];

		for (int i = 0; i < CELLS; i++)
			sum += gates[g][i] * out[t][i];
		open[t][g] = g < 3 * CELLS ? 1 / (1 + exp(-sum)) : tanh(sum);
	}
	for (int i = 0; i < CELLS; i++) {
		cell[t + 1][i] = open[t][i] * cell[t][i] +
				 open[t][CELLS + i] * open[t][3 * CELLS + i];
		out[t + 1][i] = open[t][2 * CELLS + i] * tanh(cell[t + 1][i]);
	}
#pragma omp parallel for
	for (int l = 0; l < LETTERS; l++) {
		logits[t][l] = 0;
		for (int i = 0; i < CELLS; i++)
			logits[t][l] += words[l][i] * out[t + 1][i];
	}
}

static void write_text(void)
{
	int letter = 3;

	for (int t = 0; t < 50; t++) {
		lstm_step(0, letter);
		letter = (int)(fabs(logits[0][3]) * 99) % LETTERS;
		putchar('a' + letter % 26);
	}
	putchar('\n');
}

int letters(void)
{
	int windows = 0;

	for (int g = 0; g < 4 * CELLS; g++) {
		for (int i = 0; i < CELLS + LETTERS; i++)
			gates[g][i] = noise() * 0.1;
	}
	for (int epoch = 0; epoch < 5; epoch++) {
		memset(cell[0], 0, sizeof(cell[0]));
		memset(out[0], 0, sizeof(out[0]));
		for (int w = 0; w < 22; w++, windows++) {
			double norm = 0;
			int text[WINDOW];

			for (int t = 0; t < WINDOW; t++) {
				text[t] = (w * WINDOW + t * 7) % LETTERS;
				lstm_step(t, text[t]);
			}
			for (int t = WINDOW - 1; t >= 0; t--) {
				for (int i = 0; i < CELLS; i++)
					dout[i] = tanh(dout[i] +
						       logits[t][i % LETTERS]);
#pragma omp parallel for
				for (int g = 0; g < 4 * CELLS; g++) {
					const double e =
						dout[g % CELLS] * open[t][g];

					for (int i = 0; i < CELLS; i++)
						gate_slope[g][i] +=
							e * out[t][i];
					gate_slope[g][CELLS + text[t]] += e;
				}
			}
#pragma omp parallel for reduction(+ : norm)
			for (int g = 0; g < 4 * CELLS; g++) {
				for (int i = 0; i < CELLS + LETTERS; i++)
					norm += gate_slope[g][i] *
						gate_slope[g][i];
			}
			norm = fmax(1, sqrt(norm) / 5);
#pragma omp parallel for
			for (int g = 0; g < 4 * CELLS; g++) {
				for (int i = 0; i < CELLS + LETTERS; i++) {
					const double s =
						gate_slope[g][i] / norm;

					cache[g][i] += s * s;
					gates[g][i] -= 0.1 * s /
						       sqrt(cache[g][i] + 1e-8);
					gate_slope[g][i] = 0;
				}
			}
			memcpy(cell[0], cell[WINDOW], sizeof(cell[0]));
			memcpy(out[0], out[WINDOW], sizeof(out[0]));
			if (windows % 40 == 39)
				write_text();
		}
	}
	return windows;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
