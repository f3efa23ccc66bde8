/* SPDX-License-Identifier: MIT */
/*
 * rovers.c - programs in C as people write them, the tenth set that no rule was
 * set on; their steps stand in rovers.py, written down before the first run.
 * Each is a program of its own: main() calls PROGRAM and nothing else.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N    4096
#define SIDE 64

static double noise(void)
{
	return rand() / (double)RAND_MAX;
}

/* --- an ensemble of chaotic systems, steps that are refused --- */

static double now[N], next[N], slope[6][N], stage[N];

static void slopes(const double *at, double *out)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		out[i] = (at[(i + 1) % N] - at[(i + N - 2) % N]) *
				 at[(i + N - 1) % N] -
			 at[i] + 8;
}

int ensemble(void)
{
	double time = 0, step = 0.01;
	int taken = 0, tries = 0;

	for (int i = 0; i < N; i++)
		now[i] = 8 + noise();
	while (time < 2) {
		double worst = 0;

		slopes(now, slope[0]);
		for (int s = 1; s < 6; s++) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				stage[i] =
					now[i] + step * s / 5 * slope[s - 1][i];
			slopes(stage, slope[s]);
		}
#pragma omp parallel for reduction(max : worst)
		for (int i = 0; i < N; i++) {
			next[i] =
				now[i] + step * (slope[0][i] + slope[5][i]) / 2;
			worst = fmax(worst, fabs(slope[5][i] - slope[4][i]));
		}
		tries++;
		if (worst * step > 0.6) {
			step *= 0.6;
			continue;
		}
		memcpy(now, next, sizeof(now));
		time += step;
		taken++;
		step *= 1.1;
	}
	printf("tries %d\n", tries);
	return taken;
}

/* --- a mixture of Gaussians, until it is even --- */

#define KINDS 5

static double seen[N], share[KINDS][N], mean[KINDS], wide[KINDS], part[KINDS];

static double expectation(void)
{
	double likely = 0;

#pragma omp parallel for reduction(+ : likely)
	for (int i = 0; i < N; i++) {
		double all = 1e-300;

		for (int k = 0; k < KINDS; k++) {
			const double d = (seen[i] - mean[k]) / wide[k];

			share[k][i] = part[k] / wide[k] * exp(-d * d / 2);
			all += share[k][i];
		}
		for (int k = 0; k < KINDS; k++)
			share[k][i] /= all;
		likely += log(all);
	}
	return likely;
}

static void maximisation(void)
{
	for (int k = 0; k < KINDS; k++) {
		double weight = 1e-9, sum = 0, square = 0;

#pragma omp parallel for reduction(+ : weight, sum)
		for (int i = 0; i < N; i++) {
			weight += share[k][i];
			sum += share[k][i] * seen[i];
		}
		mean[k] = sum / weight;
#pragma omp parallel for reduction(+ : square)
		for (int i = 0; i < N; i++)
			square += share[k][i] * (seen[i] - mean[k]) *
				  (seen[i] - mean[k]);
		wide[k] = sqrt(square / weight) + 0.05;
		part[k] = weight / N;
	}
}

int gaussians(void)
{
	double before = -INFINITY, likely;
	int turn = 0;

	for (int i = 0; i < N; i++)
		seen[i] = i % KINDS * 3 + noise() + noise();
	for (int k = 0; k < KINDS; k++) {
		mean[k] = noise() * 14;
		wide[k] = 2;
		part[k] = 1.0 / KINDS;
	}
	for (;;) {
		likely = expectation();
		if (turn >= 20 && likely - before < 1e-4)
			break;
		before = likely;
		maximisation();
		turn++;
		if (turn == 90)
			break;
	}
	return turn;
}

/* --- a travelling salesman, annealed by several chains --- */

#define CITIES 128
#define CHAINS 16

static double east[CITIES], north[CITIES], length[CHAINS];
static int tour[CHAINS][CITIES];

static double between(int a, int b)
{
	return hypot(east[a] - east[b], north[a] - north[b]);
}

static void chain(int c, double heat, unsigned int *seed)
{
	int *t = tour[c];

	for (int k = 0; k < 400; k++) {
		const int i = rand_r(seed) % (CITIES - 2);
		const int j = i + 1 + rand_r(seed) % (CITIES - i - 2);
		const double more =
			between(t[i], t[j]) + between(t[i + 1], t[j + 1]) -
			between(t[i], t[i + 1]) - between(t[j], t[j + 1]);

		if (more > 0 && exp(-more / heat) * RAND_MAX < rand_r(seed))
			continue;
		for (int a = i + 1, b = j; a < b; a++, b--) {
			const int was = t[a];

			t[a] = t[b];
			t[b] = was;
		}
		length[c] += more;
	}
}

int salesman(void)
{
	int best = 0;

	for (int i = 0; i < CITIES; i++) {
		east[i] = noise();
		north[i] = noise();
		for (int c = 0; c < CHAINS; c++)
			tour[c][i] = i;
	}
	for (int cool = 0; cool < 75; cool++) {
		const double heat = pow(0.93, cool % 25) * 0.3;

#pragma omp parallel for schedule(dynamic)
		for (int c = 0; c < CHAINS; c++) {
			unsigned int seed = cool * CHAINS + c;

			chain(c, heat, &seed);
		}
		best = 0;
		for (int c = 1; c < CHAINS; c++)
			best = length[c] < length[best] ? c : best;
		if (cool % 25 == 24) {
#pragma omp parallel for
			for (int c = 0; c < CHAINS; c++)
				if (c != best)
					memcpy(tour[c], tour[best],
					       sizeof(tour[c]));
		}
	}
	return 75;
}

/* --- a dam that breaks: smoothed particles, neighbours by cells --- */

static double px[N], py[N], vx[N], vy[N], ax[N], ay[N], dense[N], press[N];
static int cell[N], first[SIDE * SIDE + 1], member[N];

static void neighbours(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++) {
		const int cx = (int)fmin(SIDE - 1, fmax(0, px[i]));
		const int cy = (int)fmin(SIDE - 1, fmax(0, py[i]));

		cell[i] = cy * SIDE + cx;
	}
	memset(first, 0, sizeof(first));
	for (int i = 0; i < N; i++)
		first[cell[i] + 1]++;
	for (int c = 0; c < SIDE * SIDE; c++)
		first[c + 1] += first[c];
	for (int i = N - 1; i >= 0; i--)
		member[--first[cell[i] + 1]] = i;
}

int dam(void)
{
	for (int i = 0; i < N; i++) {
		px[i] = i % SIDE * 0.5;
		py[i] = i / SIDE * 0.9;
	}
	for (int t = 0; t < 240; t++) {
		double fast = 0;

		neighbours();
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			dense[i] = 1 + first[cell[i] + 1] % 7 * 0.1;
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			press[i] = 20 * (dense[i] - 1);
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			ax[i] = -0.01 * press[i] * (px[i] - 20);
			ay[i] = 0.01 * press[i] - 9.81;
		}
#pragma omp parallel for reduction(max : fast)
		for (int i = 0; i < N; i++) {
			vx[i] += 1e-3 * ax[i];
			vy[i] += 1e-3 * ay[i];
			px[i] += 1e-3 * vx[i];
			py[i] = fmax(0, py[i] + 1e-3 * vy[i]);
			fast = fmax(fast, fabs(vx[i]));
		}
		if (t % 25 == 0) {
			double energy = 0;

#pragma omp parallel for reduction(+ : energy)
			for (int i = 0; i < N; i++)
				energy += vx[i] * vx[i] + vy[i] * vy[i];
			printf("%d %g %g\n", t, fast, energy);
		}
	}
	return 240;
}

/* --- V cycles on six grids, down and up by loops --- */

#define GRIDS 6

static double *grid[GRIDS], *right[GRIDS], *rest[GRIDS];

static void relax(int g, int times)
{
	const int n = N >> g;

	while (times--) {
#pragma omp parallel for
		for (int i = 1; i < n - 1; i += 2)
			grid[g][i] = (grid[g][i - 1] + grid[g][i + 1] +
				      right[g][i]) /
				     2;
#pragma omp parallel for
		for (int i = 2; i < n - 1; i += 2)
			grid[g][i] = (grid[g][i - 1] + grid[g][i + 1] +
				      right[g][i]) /
				     2;
	}
}

static double residual(int g)
{
	const int n = N >> g;
	double all = 0;

#pragma omp parallel for reduction(+ : all)
	for (int i = 1; i < n - 1; i++) {
		rest[g][i] = right[g][i] - 2 * grid[g][i] + grid[g][i - 1] +
			     grid[g][i + 1];
		all += rest[g][i] * rest[g][i];
	}
	return all;
}

int grids(void)
{
	double left = 0;

	for (int g = 0; g < GRIDS; g++) {
		grid[g] = calloc(N >> g, sizeof(double));
		right[g] = calloc(N >> g, sizeof(double));
		rest[g] = calloc(N >> g, sizeof(double));
	}
	right[0][N / 2] = 1;
	for (int cycle = 0; cycle < 35; cycle++) {
		for (int g = 0; g < GRIDS - 1; g++) {
			relax(g, 2);
			residual(g);
#pragma omp parallel for
			for (int i = 1; i < (N >> (g + 1)) - 1; i++) {
				right[g + 1][i] = 4 * rest[g][2 * i];
				grid[g + 1][i] = 0;
			}
		}
		relax(GRIDS - 1, 20);
		for (int g = GRIDS - 2; g >= 0; g--) {
#pragma omp parallel for
			for (int i = 1; i < (N >> (g + 1)) - 1; i++)
				grid[g][2 * i] += grid[g + 1][i];
			relax(g, 2);
		}
		left = residual(0);
	}
	printf("%g\n", left);
	return 35;
}

/* --- ranks of pages, until they stay --- */

static double rank_of[N], rank_new[N];
static int links[N], from[N][8];

int pages(void)
{
	int turn = 0;

	for (int i = 0; i < N; i++) {
		rank_of[i] = 1.0 / N;
		for (int k = 0; k < 8; k++) {
			from[i][k] = rand() % N;
			links[from[i][k]]++;
		}
	}
	for (double change = 1; change > 1e-12; turn++) {
		double lost = 0;

		change = 0;
#pragma omp parallel for reduction(+ : lost)
		for (int i = 0; i < N; i++)
			if (!links[i])
				lost += rank_of[i];
#pragma omp parallel for schedule(guided)
		for (int i = 0; i < N; i++) {
			double sum = 0;

			for (int k = 0; k < 8; k++)
				sum += rank_of[from[i][k]] / links[from[i][k]];
			rank_new[i] = 0.15 / N + 0.85 * (sum + lost / N);
		}
#pragma omp parallel for reduction(+ : change)
		for (int i = 0; i < N; i++)
			change += fabs(rank_new[i] - rank_of[i]);
		memcpy(rank_of, rank_new, sizeof(rank_of));
	}
	return turn;
}

/* --- edges of pictures --- */

static double picture[N], blurred[N], steep[N];
static int edge[N];

int pictures(void)
{
	for (int n = 0; n < 24; n++) {
		int more = 1, weak = 0;

		for (int i = 0; i < N; i++)
			picture[i] = (i * (n + 3) % 255) * noise();
#pragma omp parallel for
		for (int i = 2; i < N - 2; i++)
			blurred[i] = (picture[i - 2] + picture[i - 1] +
				      picture[i] + picture[i + 1]) /
				     4;
#pragma omp parallel for
		for (int i = 2 * SIDE; i < N - 2 * SIDE; i++)
			picture[i] = (blurred[i - SIDE] + blurred[i] +
				      blurred[i + SIDE]) /
				     3;
#pragma omp parallel for
		for (int i = SIDE; i < N - SIDE; i++)
			steep[i] = hypot(picture[i + 1] - picture[i - 1],
					 picture[i + SIDE] - picture[i - SIDE]);
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			edge[i] = steep[i] > 60 ? 2 : steep[i] > 5;
		while (more) {
			more = 0;
#pragma omp parallel for reduction(+ : more)
			for (int i = 1; i < N - 1; i++)
				if (edge[i] == 1 &&
				    (edge[i - 1] == 2 || edge[i + 1] == 2)) {
					edge[i] = 2;
					more++;
				}
		}
#pragma omp parallel for reduction(+ : weak)
		for (int i = 0; i < N; i++)
			weak += edge[i] == 1;
		printf("%d %d\n", n, weak);
	}
	return 24;
}

/* --- pieces of words: the pair that comes most is joined --- */

#define WORDS 20000
#define TYPES 400

static int text[WORDS], pairs[TYPES][TYPES];

int pieces(void)
{
	int types = 64;

	for (int i = 0; i < WORDS; i++)
		text[i] = (int)(noise() * noise() * 64);
	for (int merge = 0; merge < 130; merge++) {
		int best = 0, left = 0;

		memset(pairs, 0, sizeof(pairs));
#pragma omp parallel for
		for (int i = 0; i < WORDS - 1; i++) {
			if (text[i] < 0 || text[i + 1] < 0)
				continue;
#pragma omp atomic
			pairs[text[i]][text[i + 1]]++;
		}
		for (int k = 0; k < types * TYPES; k++)
			if (pairs[k / TYPES][k % TYPES] >
			    pairs[best / TYPES][best % TYPES])
				best = k;
#pragma omp parallel for
		for (int i = 0; i < WORDS - 1; i += 2)
			if (text[i] == best / TYPES &&
			    text[i + 1] == best % TYPES) {
				text[i] = types;
				text[i + 1] = -1;
			}
		types++;
		if (merge % 10 == 0) {
#pragma omp parallel for reduction(+ : left)
			for (int i = 0; i < WORDS; i++)
				left += text[i] >= 0;
			printf("%d: %d\n", merge, left);
		}
	}
	return 130;
}

/* --- stumps, boosted --- */

#define TRAITS 12

static double trait[TRAITS][N], heavy[N], error[TRAITS];
static int class_of[N];

static void try_stump(int k)
{
	double wrong = 0;

#pragma omp parallel for reduction(+ : wrong)
	for (int i = 0; i < N; i++)
		wrong += heavy[i] * ((trait[k][i] > 0.5) != class_of[i]);
	error[k] = wrong;
}

int stumps(void)
{
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < TRAITS; k++)
			trait[k][i] = noise();
		class_of[i] = trait[0][i] + trait[1][i] > 1;
		heavy[i] = 1.0 / N;
	}
	for (int round = 0; round < 55; round++) {
		double all = 0;
		int best = 0;

		for (int k = 0; k < TRAITS; k++)
			try_stump(k);
		for (int k = 1; k < TRAITS; k++)
			if (fabs(error[k] - 0.5) > fabs(error[best] - 0.5))
				best = k;
#pragma omp parallel for reduction(+ : all)
		for (int i = 0; i < N; i++) {
			heavy[i] *= (trait[best][i] > 0.5) == class_of[i] ? 0.8
									  : 1.2;
			all += heavy[i];
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			heavy[i] /= all;
	}
	return 55;
}

/* --- a flow on a lattice, drawn each 100 --- */

static double (*flow)[9], (*other)[9];

int flows(void)
{
	flow = calloc(N, sizeof(*flow));
	other = calloc(N, sizeof(*other));
	for (int i = 0; i < N; i++)
		for (int k = 0; k < 9; k++)
			flow[i][k] = 1 + 0.01 * k;
	for (int t = 1; t <= 650; t++) {
		double(*was)[9] = flow;

#pragma omp parallel
		{
#pragma omp for
			for (int i = 0; i < N; i++) {
				double mean_here = 0;

				for (int k = 0; k < 9; k++)
					mean_here += flow[i][k] / 9;
				for (int k = 0; k < 9; k++)
					flow[i][k] +=
						0.6 * (mean_here - flow[i][k]);
			}
#pragma omp for
			for (int i = 0; i < N; i++)
				for (int k = 0; k < 9; k++)
					other[(i + k * 7) % N][k] = flow[i][k];
		}
		flow = other;
		other = was;
		if (t % 100 == 0) {
			double all = 0;

#pragma omp parallel for reduction(+ : all)
			for (int i = 0; i < N; i++)
				all += flow[i][0];
			printf("%d %g\n", t, all);
		}
	}
	return 650;
}

/* --- frames in wavelets --- */

static void halve(double *line, int n)
{
#pragma omp parallel for
	for (int i = 0; i < n / 2; i++) {
		blurred[i] = (line[2 * i] + line[2 * i + 1]) / 2;
		blurred[n / 2 + i] = (line[2 * i] - line[2 * i + 1]) / 2;
	}
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		line[i] = blurred[i];
}

int wavelets(void)
{
	for (int frame = 0; frame < 32; frame++) {
		int kept = 0;

		for (int i = 0; i < N; i++)
			picture[i] = sin(i * 0.01 * (frame + 1)) + noise();
		for (int n = N; n > 64; n /= 2)
			halve(picture, n);
#pragma omp parallel for reduction(+ : kept)
		for (int i = 0; i < N; i++) {
			if (fabs(picture[i]) < 0.2)
				picture[i] = 0;
			kept += picture[i] != 0;
		}
		printf("frame %d: %d\n", frame, kept);
	}
	return 32;
}

/* --- two phases that part --- */

static double mixed[N], potential[N];

int alloy(void)
{
	for (int i = 0; i < N; i++)
		mixed[i] = noise() * 0.1;
	for (int t = 0; t < 500; t++) {
#pragma omp parallel for
		for (int i = SIDE; i < N - SIDE; i++)
			potential[i] = mixed[i] * mixed[i] * mixed[i] -
				       mixed[i] -
				       0.5 * (mixed[i - 1] + mixed[i + 1] +
					      mixed[i - SIDE] +
					      mixed[i + SIDE] - 4 * mixed[i]);
#pragma omp parallel for
		for (int i = SIDE; i < N - SIDE; i++)
			mixed[i] +=
				0.01 * (potential[i - 1] + potential[i + 1] -
					2 * potential[i]);
		if ((t + 1) % 50 == 0) {
			double energy = 0;

#pragma omp parallel for reduction(+ : energy)
			for (int i = 0; i < N; i++)
				energy += mixed[i] * potential[i];
			printf("%d %g\n", t + 1, energy);
		}
	}
	return 500;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
