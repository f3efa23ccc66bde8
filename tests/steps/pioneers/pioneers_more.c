/* SPDX-License-Identifier: MIT */
/* pioneers_more.c - more of pioneers.c: agents, trees, factors, topics. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double noise(void)
{
	return rand() / (double)RAND_MAX - 0.5;
}

/* --- an actor and a critic in 16 worlds at once --- */

enum { WORLDS = 16, STATE = 32, NEURONS = 64, ACTS = 4, LONG = 5 };

static double world[WORLDS][STATE], hidden[WORLDS][NEURONS],
	policy[WORLDS][ACTS], value[WORLDS], reward[LONG][WORLDS],
	seen[LONG][WORLDS][STATE], wanted[LONG][WORLDS];
static double body[NEURONS][STATE], head[ACTS + 1][NEURONS],
	body_slope[NEURONS][STATE], head_slope[ACTS + 1][NEURONS];

static void forward(const double (*in)[STATE])
{
#pragma omp parallel for
	for (int w = 0; w < WORLDS; w++) {
		for (int n = 0; n < NEURONS; n++) {
			double sum = 0;

			for (int s = 0; s < STATE; s++)
				sum += body[n][s] * in[w][s];
			hidden[w][n] = tanh(sum);
		}
	}
#pragma omp parallel for
	for (int w = 0; w < WORLDS; w++) {
		for (int a = 0; a <= ACTS; a++) {
			double sum = 0;

			for (int n = 0; n < NEURONS; n++)
				sum += head[a][n] * hidden[w][n];
			if (a == ACTS)
				value[w] = sum;
			else
				policy[w][a] = sum;
		}
	}
}

static void act(int t)
{
#pragma omp parallel for
	for (int w = 0; w < WORLDS; w++) {
		int best = 0;

		for (int a = 1; a < ACTS; a++) {
			if (policy[w][a] > policy[w][best])
				best = a;
		}
		for (int s = 0; s < STATE; s++)
			world[w][s] = 0.9 * world[w][s] +
				      0.1 * sin(best + s + world[w][0]);
		if (t >= 0)
			reward[t][w] = world[w][1];
	}
}

int actor(void)
{
	int update;

	for (int n = 0; n < NEURONS; n++) {
		for (int s = 0; s < STATE; s++)
			body[n][s] = noise() * 0.3;
		for (int a = 0; a <= ACTS; a++)
			head[a][n] = noise() * 0.3;
	}
	for (update = 0; update < 120; update++) {
		for (int t = 0; t < LONG; t++) {
			memcpy(seen[t], world, sizeof(world));
			forward(world);
			act(t);
		}
		forward(world);
		for (int w = 0; w < WORLDS; w++) {
			double after = value[w];

			for (int t = LONG - 1; t >= 0; t--)
				after = wanted[t][w] =
					reward[t][w] + 0.99 * after;
		}
		for (int t = 0; t < LONG; t++) {
			forward(seen[t]);
#pragma omp parallel for
			for (int n = 0; n < NEURONS; n++) {
				for (int w = 0; w < WORLDS; w++) {
					const double e =
						wanted[t][w] - value[w];

					for (int a = 0; a <= ACTS; a++)
						head_slope[a][n] +=
							e * hidden[w][n];
					for (int s = 0; s < STATE; s++)
						body_slope[n][s] +=
							e * seen[t][w][s];
				}
			}
		}
#pragma omp parallel for
		for (int n = 0; n < NEURONS; n++) {
			for (int s = 0; s < STATE; s++)
				body[n][s] += 1e-5 * body_slope[n][s];
			for (int a = 0; a <= ACTS; a++)
				head[a][n] += 1e-5 * head_slope[a][n];
		}
		if (update % 40 == 39) {
			double sum = 0;

			for (int t = 0; t < 25 + update % 7; t++) {
				forward(world);
				act(-1);
				sum += world[0][1];
			}
			printf("%d: played %f\n", update, sum);
		}
	}
	return update;
}

/* --- what it remembers is filled by chance first, then it learns --- */

enum { KEPT = 2048, BATCH = 32 };

static double memory[KEPT][STATE], target[NEURONS][STATE], loss_of[BATCH];

static void simulate(int at)
{
#pragma omp parallel for
	for (int s = 0; s < STATE; s++)
		memory[at][s] = sin(memory[(at + KEPT - 1) % KEPT][s] * 3 + s);
}

static double best_action(const double *state)
{
	double best = -1e9;

#pragma omp parallel for reduction(max : best)
	for (int n = 0; n < NEURONS; n++) {
		double sum = 0;

		for (int s = 0; s < STATE; s++)
			sum += body[n][s] * state[s];
		best = fmax(best, tanh(sum));
	}
	return best;
}

static double learn(void)
{
	double loss = 0;
	int rows[BATCH];

	for (int b = 0; b < BATCH; b++)
		rows[b] = rand() % KEPT;
#pragma omp parallel for
	for (int b = 0; b < BATCH; b++) {
		loss_of[b] = memory[rows[b]][0];
		for (int n = 0; n < NEURONS; n++)
			loss_of[b] -= target[n][0] * memory[rows[b]][1] / BATCH;
	}
#pragma omp parallel for
	for (int n = 0; n < NEURONS; n++) {
		for (int b = 0; b < BATCH; b++) {
			for (int s = 0; s < STATE; s++)
				body[n][s] +=
					1e-4 * loss_of[b] * memory[rows[b]][s];
		}
	}
	for (int b = 0; b < BATCH; b++)
		loss += fabs(loss_of[b]) / BATCH;
	return loss;
}

int replay(void)
{
	int frame, learned = 0;
	double loss = 0;

	for (frame = 0; frame < 500; frame++) {
		if (frame >= 200 && rand() % 10)
			best_action(memory[frame % KEPT]);
		simulate((frame + 1) % KEPT);
		if (frame < 200)
			continue;
		loss = 0.9 * loss + 0.1 * learn();
		learned++;
		if (learned % 50 == 0) {
#pragma omp parallel for
			for (int n = 0; n < NEURONS; n++)
				memcpy(target[n], body[n], sizeof(body[n]));
			printf("%d: %f\n", frame, loss);
		}
	}
	return learned;
}

/* --- trees that are grown level by level, alone or for several classes --- */

enum { SAMPLES = 2000, COLUMNS = 12, BINS = 16, NODES = 64, CLASSES = 4 };

static unsigned char bins[SAMPLES][COLUMNS];
static int node[SAMPLES], label[SAMPLES], split_column[NODES], split_bin[NODES];
static double gradient[CLASSES][SAMPLES], score[CLASSES][SAMPLES],
	sums[NODES][COLUMNS][BINS], votes[SAMPLES], leaf[2 * NODES];

static void make_samples(void)
{
	for (int i = 0; i < SAMPLES; i++) {
		for (int c = 0; c < COLUMNS; c++)
			bins[i][c] = rand() % BINS;
		label[i] = (bins[i][0] + bins[i][1] * bins[i][2]) % CLASSES;
	}
}

static void histograms(const double *g, int nodes)
{
#pragma omp parallel for collapse(2) schedule(dynamic)
	for (int n = 0; n < nodes; n++) {
		for (int c = 0; c < COLUMNS; c++) {
			memset(sums[n][c], 0, sizeof(sums[n][c]));
			for (int i = 0; i < SAMPLES; i++) {
				if (node[i] == n)
					sums[n][c][bins[i][c]] += g[i];
			}
		}
	}
}

static double find_splits(int nodes)
{
	double gain = 0;

#pragma omp parallel for reduction(+ : gain)
	for (int n = 0; n < nodes; n++) {
		double best = 0;

		split_column[n] = 0;
		split_bin[n] = BINS;
		for (int c = 0; c < COLUMNS; c++) {
			double left = 0;

			for (int b = 0; b < BINS; b++) {
				left += sums[n][c][b];
				if (left * left <= best)
					continue;
				best = left * left;
				split_column[n] = c;
				split_bin[n] = b;
			}
		}
		leaf[n] = best * 1e-6;
		gain += best;
	}
	return gain;
}

static void partition(void)
{
#pragma omp parallel for
	for (int i = 0; i < SAMPLES; i++) {
		const int n = node[i];

		node[i] = 2 * n + (bins[i][split_column[n]] > split_bin[n]);
	}
}

static int grow(const double *g, int depth, double least)
{
	int level = 0;

	memset(node, 0, sizeof(node));
	for (; level < depth; level++) {
		histograms(g, 1 << level);
		if (find_splits(1 << level) < least)
			break;
		partition();
	}
	return level;
}

int forest(void)
{
	double best = 1e9;
	int trees = 0, since = 0;

	make_samples();
	while (trees < 80 && since < 15) {
		double wrong = 0;

#pragma omp parallel for
		for (int i = 0; i < SAMPLES; i++) {
			unsigned int seed = i * 77 + trees * 1001;

			gradient[0][i] = (rand_r(&seed) % 3) * (label[i] - 1.5);
		}
		const int depth = grow(gradient[0], 4 + rand() % 3, 2e3);

#pragma omp parallel for
		for (int i = 0; i < SAMPLES; i++)
			votes[i] += leaf[node[i] % NODES];
#pragma omp parallel for reduction(+ : wrong)
		for (int i = 0; i < SAMPLES; i++)
			wrong += (votes[i] > 1e-3 * (i % 50)) != (label[i] > 1);
		trees++;
		since = wrong < best ? 0 : since + 1;
		best = fmin(best, wrong);
		printf("%d: depth %d, %f out of bag\n", trees, depth, wrong);
	}
	return trees;
}

int classes(void)
{
	double best = 1e9;
	int round = 0, since = 0;

	make_samples();
	while (round < 60 && since < 8) {
		double loss = 0;

#pragma omp parallel for
		for (int i = 0; i < SAMPLES; i++) {
			double total = 0;

			for (int k = 0; k < CLASSES; k++)
				total += exp(score[k][i]);
			for (int k = 0; k < CLASSES; k++)
				gradient[k][i] = (label[i] == k) -
						 exp(score[k][i]) / total;
		}
		for (int k = 0; k < CLASSES; k++) {
			grow(gradient[k], 3, 0);
#pragma omp parallel for
			for (int i = 0; i < SAMPLES * 3 / 4; i++)
				score[k][i] += leaf[node[i] % NODES];
#pragma omp parallel for
			for (int i = SAMPLES * 3 / 4; i < SAMPLES; i++)
				score[k][i] += leaf[node[i] % NODES];
		}
#pragma omp parallel for reduction(+ : loss)
		for (int i = SAMPLES * 3 / 4; i < SAMPLES; i++)
			loss -= score[label[i]][i];
		round++;
		since = loss < best ? 0 : since + 1;
		best = fmin(best, loss);
		printf("%d: valid %f\n", round, loss);
	}
	return round;
}

/* --- factors without negative parts, by one function for all products --- */

enum { TALL = 160, BROAD = 120, RANK = 10 };

static double v[TALL * BROAD], w[TALL * RANK], h[RANK * BROAD],
	top[TALL * BROAD], low[TALL * BROAD], square[RANK * RANK];

static void gemm(int m, int n, int k, const double *a, int a_row, int a_col,
		 const double *b, int b_row, int b_col, double *to)
{
#pragma omp parallel for
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < n; j++) {
			double sum = 0;

			for (int l = 0; l < k; l++)
				sum += a[i * a_row + l * a_col] *
				       b[l * b_row + j * b_col];
			to[i * n + j] = sum;
		}
	}
}

static void multiply(double *x, int count)
{
#pragma omp parallel for
	for (int i = 0; i < count; i++)
		x[i] *= top[i] / (low[i] + 1e-9);
}

int factors(void)
{
	double before = 1e30;
	int k = 0;

	for (int i = 0; i < TALL * BROAD; i++)
		v[i] = fabs(noise());
	for (int i = 0; i < TALL * RANK; i++)
		w[i] = fabs(noise());
	for (int i = 0; i < RANK * BROAD; i++)
		h[i] = fabs(noise());
	while (k < 140) {
		gemm(RANK, BROAD, TALL, w, 1, RANK, v, BROAD, 1, top);
		gemm(RANK, RANK, TALL, w, 1, RANK, w, RANK, 1, square);
		gemm(RANK, BROAD, RANK, square, RANK, 1, h, BROAD, 1, low);
		multiply(h, RANK * BROAD);
		gemm(TALL, RANK, BROAD, v, BROAD, 1, h, 1, BROAD, top);
		gemm(RANK, RANK, BROAD, h, BROAD, 1, h, 1, BROAD, square);
		gemm(TALL, RANK, RANK, w, RANK, 1, square, RANK, 1, low);
		multiply(w, TALL * RANK);
		if (++k % 10)
			continue;
		double error = 0;

		gemm(TALL, BROAD, RANK, w, RANK, 1, h, BROAD, 1, low);
#pragma omp parallel for reduction(+ : error)
		for (int i = 0; i < TALL * BROAD; i++)
			error += (v[i] - low[i]) * (v[i] - low[i]);
		printf("%d: %f\n", k, error);
		if (before - error < 1e-4 * before)
			break;
		before = error;
	}
	return k;
}

/* --- topics of texts, drawn in each thread, counts put together --- */

enum { TEXTS = 200, TOPICS = 8, TERMS = 300, LENGTH = 40 };

static int topic[TEXTS][LENGTH], term[TEXTS][LENGTH], of_text[TEXTS][TOPICS],
	of_term[TERMS][TOPICS], total[TOPICS];
static double alpha[TOPICS];

static double perplexity(void)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int d = 0; d < TEXTS; d++) {
		for (int i = 0; i < LENGTH; i++)
			sum -= log(1e-9 + of_text[d][topic[d][i]]);
	}
	return exp(sum / TEXTS / LENGTH);
}

static int fit_alpha(void)
{
	double moved = 1;
	int tries = 0;

	while (moved > 1e-3 && tries < 20) {
		double sum = 0;

#pragma omp parallel for reduction(+ : sum)
		for (int d = 0; d < TEXTS; d++)
			sum += log(of_text[d][tries % TOPICS] + alpha[0]);
		moved = fabs(sum) / TEXTS / (1 << tries++);
		alpha[tries % TOPICS] *= 1 + 0.01 * moved;
	}
	return tries;
}

int topics(void)
{
	int sweep;

	for (int k = 0; k < TOPICS; k++)
		alpha[k] = 0.5;
	for (int d = 0; d < TEXTS; d++) {
		for (int i = 0; i < LENGTH; i++) {
			term[d][i] = rand() % TERMS;
			topic[d][i] = rand() % TOPICS;
		}
	}
	for (sweep = 0; sweep < 70; sweep++) {
		memset(total, 0, sizeof(total));
#pragma omp parallel for
		for (int t = 0; t < TERMS; t++) {
			memset(of_term[t], 0, sizeof(of_term[t]));
			for (int d = t % 4; d < TEXTS; d += 4) {
				for (int i = 0; i < LENGTH; i++)
					of_term[t][topic[d][i]] +=
						term[d][i] == t;
			}
		}
		for (int t = 0; t < TERMS; t++) {
			for (int k = 0; k < TOPICS; k++)
				total[k] += of_term[t][k];
		}
#pragma omp parallel for schedule(dynamic, 8)
		for (int d = 0; d < TEXTS; d++) {
			unsigned int seed = d + sweep * TEXTS;

			memset(of_text[d], 0, sizeof(of_text[d]));
			for (int i = 0; i < LENGTH; i++)
				of_text[d][topic[d][i]]++;
			for (int i = 0; i < LENGTH; i++) {
				const int k = rand_r(&seed) % TOPICS;

				if ((of_text[d][k] + alpha[k]) *
					    of_term[term[d][i]][k] /
					    (total[k] + 1.0) >
				    1e-3 * (rand_r(&seed) % 100))
					topic[d][i] = k;
			}
		}
		if (sweep >= 20 && sweep % 10 == 0)
			printf("%d: alpha in %d\n", sweep, fit_alpha());
		if (sweep % 10 == 0)
			printf("%d: perplexity %f\n", sweep, perplexity());
	}
	return sweep;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
