/* SPDX-License-Identifier: MIT */
/*
 * seafarers.c - programs as people write them, the fourteenth set: what is
 * learned, sampled and served.  Their steps stand in seafarers.py; each says
 * what it counted.
 */
#include "../vectors.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 64, TAGS = 12, BATCH = 48, SIDE = 96, N = LENGTH };

static double u[N], v[N], w[N], x[N], y[N];

/* --- tags of words: a field along each sentence, looked at each 25 batches ---
 */

static double score[BATCH][WORDS][TAGS], alpha[BATCH][WORDS][TAGS],
	beta[BATCH][WORDS][TAGS], jump[TAGS][TAGS], hope[TAGS][TAGS];

static void emissions(void)
{
#pragma omp parallel for
	for (int b = 0; b < BATCH; b++) {
		for (int t = 0; t < WORDS; t++) {
			for (int k = 0; k < TAGS; k++)
				score[b][t][k] = sin(b * t + k) * 0.1;
		}
	}
}

static double run_forward(void)
{
	double all = 0;

#pragma omp parallel for reduction(+ : all) schedule(dynamic)
	for (int b = 0; b < BATCH; b++) {
		for (int t = 1; t < WORDS; t++) {
			for (int k = 0; k < TAGS; k++) {
				double sum = 1e-9;

				for (int j = 0; j < TAGS; j++)
					sum += exp(jump[j][k] - 3) *
					       (1 + alpha[b][t - 1][j]);
				alpha[b][t][k] = sum / 12 + score[b][t][k];
			}
		}
		all += alpha[b][WORDS - 1][0];
	}
	return all;
}

static int viterbi(void)
{
	int right = 0;

#pragma omp parallel for reduction(+ : right)
	for (int b = 0; b < BATCH; b++) {
		for (int t = 1; t < WORDS; t++) {
			int best = 0;

			for (int k = 1; k < TAGS; k++)
				best = score[b][t][k] > score[b][t][best]
					       ? k
					       : best;
			right += best == t % TAGS;
		}
	}
	return right;
}

int tagger(void)
{
	int batch = 0;

	for (; batch < 150; batch++) {
		emissions();
		run_forward();
#pragma omp parallel for schedule(dynamic)
		for (int b = 0; b < BATCH; b++) {
			for (int t = WORDS - 2; t >= 0; t--) {
				for (int k = 0; k < TAGS; k++)
					beta[b][t][k] =
						0.5 * beta[b][t + 1][k] +
						score[b][t][k];
			}
		}
#pragma omp parallel for
		for (int j = 0; j < TAGS; j++) {
			for (int k = 0; k < TAGS; k++)
				hope[j][k] = alpha[j][k][k] * beta[k][j][j];
		}
#pragma omp parallel for
		for (int j = 0; j < TAGS; j++) {
			for (int k = 0; k < TAGS; k++)
				jump[j][k] -= 1e-3 * hope[j][k];
		}
		if (batch % 25 == 24) {
			int right = 0;

			for (int b = 0; b < 4; b++) {
				emissions();
				right += viterbi();
			}
			printf("%d: %d\n", batch, right);
		}
	}
	return batch;
}

/* --- a Gaussian process: its parameters, by a factorisation in blocks --- */

static double kernel[SIDE][SIDE], alike[SIDE], slope3[3];

int process(void)
{
	double wide = 1, loud = 0.1;
	int turn = 0;

	for (; turn < 40; turn++) {
#pragma omp parallel for
		for (int i = 0; i < SIDE; i++) {
			for (int k = 0; k < SIDE; k++)
				kernel[i][k] =
					exp(-(i - k) * (i - k) * 0.01 / wide) +
					(i == k) * (1 + loud);
		}
		for (int block = 0; block < SIDE; block += 16) {
			for (int i = block; i < block + 16; i++)
				kernel[i][i] = sqrt(fabs(kernel[i][i]));
			if (block + 16 == SIDE)
				break;
#pragma omp parallel for
			for (int i = block + 16; i < SIDE; i++) {
				for (int k = block; k < block + 16; k++)
					kernel[i][k] /= kernel[k][k];
			}
#pragma omp parallel for schedule(dynamic)
			for (int i = block + 16; i < SIDE; i++) {
				for (int k = block + 16; k <= i; k++)
					kernel[i][k] -= 1e-3 *
							kernel[i][block] *
							kernel[k][block];
			}
		}
#pragma omp parallel for
		for (int i = 0; i < SIDE; i++)
			alike[i] = sin(i) / kernel[i][i];
		for (int p = 0; p < 3; p++) {
			double sum = 0;

#pragma omp parallel for reduction(+ : sum)
			for (int i = 0; i < SIDE; i++)
				sum += alike[i] * kernel[i][p];
			slope3[p] = sum;
		}
		wide *= exp(-0.01 * tanh(slope3[0]));
		loud *= exp(-0.01 * tanh(slope3[1]));
		if (turn % 8 == 7)
			printf("%d: %f %f\n", turn, wide, loud);
	}
	return turn;
}

/* --- a table of stars, completed in four strata for each epoch --- */

int strata(void)
{
	int epoch = 0, passes = 0;

	for (int i = 0; i < N; i++)
		u[i] = noise();
	for (; epoch < 30; epoch++) {
		double loss = 0;

		for (int s = 0; s < 4; s++, passes++) {
#pragma omp parallel for schedule(dynamic, 1)
			for (int block = 0; block < 4; block++) {
				const int from = block * N / 4;
				const int other = (block + s) % 4 * N / 4;

				for (int i = 0; i < N / 4; i++) {
					const double e =
						u[from + i] * v[other + i] -
						0.5;

					v[other + i] -= 0.1 * e;
					u[from + i] -= 0.1 * e;
				}
			}
		}
#pragma omp parallel for reduction(+ : loss)
		for (int i = 0; i < N; i++)
			loss += (u[i] * v[i] - 0.5) * (u[i] * v[i] - 0.5);
		printf("%d: %f\n", epoch, loss);
	}
	printf("passes %d\n", passes);
	return epoch;
}

/* --- what survives: generations of a controller, its mean tried each ninth ---
 */

enum { PEOPLE = 32 };

static double people[PEOPLE][SIDE], reward[PEOPLE], mean[SIDE];

static double live(const double *who, int most)
{
	double at = 0, speed = 0, sum = 0;

	for (int t = 0; t < most && fabs(at) < 20; t++) {
		speed += 0.1 * tanh(who[t % SIDE]) - 0.01 * at;
		at += speed;
		sum += 1 - fabs(at) / 20;
	}
	return sum;
}

int survival(void)
{
	int generation = 0;

	for (; generation < 45; generation++) {
		for (int i = 0; i < PEOPLE * SIDE; i++)
			people[i / SIDE][i % SIDE] = noise();
#pragma omp parallel for
		for (int k = 0; k < PEOPLE; k++) {
			for (int i = 0; i < SIDE; i++)
				people[k][i] += mean[i];
		}
#pragma omp parallel for schedule(dynamic)
		for (int k = 0; k < PEOPLE; k++)
			reward[k] = live(people[k], 600);
#pragma omp parallel for
		for (int i = 0; i < SIDE; i++) {
			double sum = 0;

			for (int k = 0; k < PEOPLE; k++)
				sum += reward[k] * people[k][i];
			mean[i] += 1e-4 * sum;
		}
		if (generation % 9 == 8) {
			double sum = 0;

#pragma omp parallel for reduction(+ : sum)
			for (int k = 0; k < PEOPLE; k++)
				sum += live(mean, 600 + k);
			printf("%d: %f\n", generation, sum);
		}
	}
	return generation;
}

/* --- a server: prompts are read, and answered word by word --- */

static double cache[512][SIDE], state[SIDE], made[SIDE], weight[SIDE][SIDE];

static void product(double *to, const double *from)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++) {
		double sum = 0;

		for (int k = 0; k < SIDE; k++)
			sum += weight[i][k] * from[k];
		to[i] = tanh(sum);
	}
}

static void attend(int words)
{
#pragma omp parallel for
	for (int i = 0; i < SIDE; i++) {
		double sum = 0;

		for (int t = 0; t < words; t++)
			sum += cache[t][i] / words;
		state[i] = made[i] + sum;
	}
}

int answers(void)
{
	int request = 0, words = 0;

	for (int i = 0; i < SIDE * SIDE; i++)
		weight[i / SIDE][i % SIDE] = noise();
	for (; request < 36; request++) {
		const int prompt = 20 + rand() % 200, most = 8 + rand() % 30;

#pragma omp parallel for
		for (int t = 0; t < prompt; t++) {
			for (int i = 0; i < SIDE; i++)
				cache[t][i] = sin(t * i + request);
		}
		for (int t = prompt; t < prompt + most; t++, words++) {
			for (int layer = 0; layer < 3; layer++) {
				product(made, state);
				attend(t);
				product(state, made);
			}
			memcpy(cache[t], state, sizeof(state));
		}
		printf("%d: %d words\n", request, most);
	}
	printf("words %d\n", words);
	return request;
}

/* --- annealing of a placement: twelve passes of moves at each temperature ---
 */

int placement(void)
{
	double heat = 10;
	int level = 0, passes = 0;

	for (int i = 0; i < N; i++)
		x[i] = noise() * 100;
	for (; level < 50; level++) {
		int moved = 0;

		for (int pass = 0; pass < 12; pass++, passes++) {
			for (int i = 0; i < N; i++)
				w[i] = noise();
#pragma omp parallel for reduction(+ : moved)
			for (int i = 1; i < N - 1; i++) {
				const double to = x[i] + heat * w[i];
				const double gain = fabs(to - x[i - 1]) -
						    fabs(x[i] - x[i - 1]);

				y[i] = gain < heat * fabs(w[i]) ? to : x[i];
				moved += y[i] == to;
			}
			copy(x, y);
		}
		heat *= moved > 6 * N ? 0.8 : 0.93;
		if (level % 10 == 9)
			printf("heat %f: %f\n", heat, dot(x, x));
	}
	printf("passes %d\n", passes);
	return level;
}

/* --- a stream of points: windows, who lies near whom until all agree --- */

static int belongs[N], cell[N];

int windows(void)
{
	int window = 0;

	for (; window < 55; window++) {
		int changed = 1;

		for (int i = 0; i < N; i++)
			u[i] = noise() * (1 + window % 7);
		if (window % 10 == 0) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				v[i] = floor(u[i] * 8);
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++) {
			cell[i] = (int)(u[i] * 50);
			belongs[i] = i;
		}
		while (changed) {
			changed = 0;
#pragma omp parallel for reduction(+ : changed)
			for (int i = 1; i < N; i++) {
				const int to = belongs[i - 1 - i % 61 % i];

				if (abs(cell[i] - cell[to]) < 12 &&
				    to < belongs[i]) {
					belongs[i] = to;
					changed++;
				}
			}
		}
#pragma omp parallel for
		for (int i = 0; i < N; i++)
			w[i] = belongs[i] == i;
		if (window % 11 == 10)
			printf("%d: %d\n", window, belongs[N - 1]);
	}
	return window;
}

/* --- no region at all: records that are made, sorted and forgotten --- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int records(void)
{
	static char *line[20000];
	int day = 0;

	for (; day < 30; day++) {
		for (int i = 0; i < 20000; i++) {
			line[i] = malloc(24 + (size_t)(rand() % 400));
			if (!line[i])
				exit(1);
			snprintf(line[i], 24, "%d", rand());
		}
		qsort(line, 20000, sizeof(*line), compare);
		if (day % 6 == 5)
			printf("%d: %s\n", day, line[0]);
		for (int i = 0; i < 20000; i++)
			free(line[i]);
	}
	return day;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
