/* SPDX-License-Identifier: MIT */
/*
 * pioneers.c - programs in C as people write them, the twelfth set; their steps
 * stand in pioneers.py, written down before the first run.  Each is a program
 * of its own: main() calls PROGRAM and nothing else.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double noise(void)
{
	return rand() / (double)RAND_MAX - 0.5;
}

static void draw(void *to, int count, double wide)
{
	for (int i = 0; i < count; i++)
		((double *)to)[i] = noise() * wide;
}

/* --- GPT-2 in the manner of a C file: validates, samples, trains --- */

enum { T = 48, C = 32, LAYERS = 4, WORDS = 128 };

static double weights[LAYERS][4 * C * C], moments[LAYERS][4 * C * C],
	slopes[LAYERS][4 * C * C], embedding[WORDS][C];
static double acts[LAYERS + 1][T][C], normed[T][C], attended[T][C],
	probabilities[T][WORDS], back[T][C];

static void encoder_forward(const int *tokens)
{
#pragma omp parallel for
	for (int t = 0; t < T; t++)
		memcpy(acts[0][t], embedding[tokens[t]], sizeof(acts[0][t]));
}

static void layernorm_forward(const double (*in)[C])
{
#pragma omp parallel for
	for (int t = 0; t < T; t++) {
		double mean = 0, square = 1e-5;

		for (int i = 0; i < C; i++)
			mean += in[t][i] / C;
		for (int i = 0; i < C; i++)
			square += (in[t][i] - mean) * (in[t][i] - mean) / C;
		for (int i = 0; i < C; i++)
			normed[t][i] = (in[t][i] - mean) / sqrt(square);
	}
}

static void matmul_forward(double (*out)[C], const double (*in)[C],
			   const double *w)
{
#pragma omp parallel for
	for (int t = 0; t < T; t++) {
		for (int o = 0; o < C; o++) {
			double sum = 0;

			for (int i = 0; i < C; i++)
				sum += in[t][i] * w[o * C + i];
			out[t][o] = sum;
		}
	}
}

static void attention_forward(const double (*in)[C])
{
#pragma omp parallel for
	for (int t = 0; t < T; t++) {
		memset(attended[t], 0, sizeof(attended[t]));
		for (int s = 0; s <= t; s++) {
			double score = 0;

			for (int i = 0; i < C; i++)
				score += in[t][i] * in[s][i];
			for (int i = 0; i < C; i++)
				attended[t][i] += in[s][i] * tanh(score) / T;
		}
	}
}

static void gelu_forward(double (*out)[C], const double (*in)[C])
{
#pragma omp parallel for
	for (int t = 0; t < T; t++) {
		for (int i = 0; i < C; i++)
			out[t][i] += in[t][i] * tanh(in[t][i]);
	}
}

static void softmax_forward(void)
{
#pragma omp parallel for
	for (int t = 0; t < T; t++) {
		double sum = 0;

		for (int v = 0; v < WORDS; v++) {
			double dot = 0;

			for (int i = 0; i < C; i++)
				dot += acts[LAYERS][t][i] * embedding[v][i];
			probabilities[t][v] = exp(tanh(dot));
			sum += probabilities[t][v];
		}
		for (int v = 0; v < WORDS; v++)
			probabilities[t][v] /= sum;
	}
}

static double gpt2_forward(const int *tokens, const int *targets)
{
	double loss = 0;

	encoder_forward(tokens);
	for (int l = 0; l < LAYERS; l++) {
		const double *w = weights[l];

		layernorm_forward(acts[l]);
		matmul_forward(acts[l + 1], normed, w);
		attention_forward(acts[l + 1]);
		matmul_forward(acts[l + 1], attended, w + C * C);
		layernorm_forward(acts[l + 1]);
		matmul_forward(attended, normed, w + 2 * C * C);
		gelu_forward(acts[l + 1], attended);
	}
	softmax_forward();
	for (int t = 0; targets && t < T; t++)
		loss -= log(probabilities[t][targets[t]]) / T;
	return loss;
}

static void gpt2_backward(const int *targets)
{
#pragma omp parallel for
	for (int t = 0; t < T; t++) {
		for (int i = 0; i < C; i++)
			back[t][i] =
				acts[LAYERS][t][i] - embedding[targets[t]][i];
	}
	for (int l = LAYERS - 1; l >= 0; l--) {
#pragma omp parallel for
		for (int o = 0; o < C; o++) {
			for (int i = 0; i < C * 4; i++) {
				for (int t = 0; t < T; t++)
					slopes[l][o * 4 * C + i] +=
						back[t][o] * acts[l][t][i % C] /
						T;
			}
		}
#pragma omp parallel for
		for (int t = 0; t < T; t++) {
			for (int i = 0; i < C; i++)
				back[t][i] *= 1 - tanh(acts[l][t][i]);
		}
	}
}

int gpt2(void)
{
	int tokens[T + 1], step;

	draw(weights, LAYERS * 4 * C * C, 0.1);
	draw(embedding, WORDS * C, 1);
	for (step = 0; step <= 40; step++) {
		if (step % 10 == 0) {
			double loss = 0;

			for (int k = 0; k < 5; k++) {
				for (int i = 0; i <= T; i++)
					tokens[i] = rand() % WORDS;
				loss += gpt2_forward(tokens, tokens + 1) / 5;
			}
			printf("val loss %f\n", loss);
		}
		if (step > 0 && step % 20 == 0) {
			memset(tokens, 0, sizeof(tokens));
			for (int t = 1; t < 24; t++) {
				gpt2_forward(tokens, NULL);
				tokens[t] =
					(int)(probabilities[t - 1][7] * WORDS) %
					WORDS;
			}
			printf("generated %d\n", tokens[23]);
		}
		for (int i = 0; i <= T; i++)
			tokens[i] = rand() % WORDS;
		const double loss = gpt2_forward(tokens, tokens + 1);

		memset(slopes, 0, sizeof(slopes));
		gpt2_backward(tokens + 1);
#pragma omp parallel for
		for (int i = 0; i < LAYERS * 4 * C * C; i++) {
			const int l = i / (4 * C * C), k = i % (4 * C * C);

			moments[l][k] = 0.9 * moments[l][k] + slopes[l][k];
			weights[l][k] -= 1e-4 * moments[l][k];
		}
		printf("step %d: train loss %f\n", step, loss);
	}
	return step;
}

/* --- word vectors from counts, all threads at once in one table --- */

enum { PAIRS = 30000, VOCABULARY = 2000, WIDE = 16 };

static struct {
	int word, context;
	double count;
} pairs[PAIRS];
static double vectors[2 * VOCABULARY][WIDE + 1];
static int places[PAIRS];

static void shuffle(void)
{
	for (int i = PAIRS - 1; i > 0; i--) {
		const int j = rand() % (i + 1), keep = places[i];

		places[i] = places[j];
		places[j] = keep;
	}
}

int glove(void)
{
	int epoch;

	for (int i = 0; i < PAIRS; i++) {
		pairs[i].word = rand() % VOCABULARY;
		pairs[i].context = rand() % VOCABULARY;
		pairs[i].count = 1 + rand() % 20;
		places[i] = i;
	}
	draw(vectors, 2 * VOCABULARY * (WIDE + 1), 1.0 / WIDE);
	for (epoch = 0; epoch < 15; epoch++) {
		double cost = 0;

		shuffle();
#pragma omp parallel for reduction(+ : cost) schedule(static)
		for (int k = 0; k < PAIRS; k++) {
			double *w = vectors[pairs[places[k]].word];
			double *c =
				vectors[VOCABULARY + pairs[places[k]].context];
			double diff =
				w[WIDE] + c[WIDE] - log(pairs[places[k]].count);

			for (int i = 0; i < WIDE; i++)
				diff += w[i] * c[i];
			cost += diff * diff;
			for (int i = 0; i < WIDE; i++) {
				const double keep = w[i];

				w[i] -= 0.01 * diff * c[i];
				c[i] -= 0.01 * diff * keep;
			}
		}
		printf("iter %d cost %f\n", epoch, cost / PAIRS);
		if (epoch % 5 == 4) {
			double norm = 0;

#pragma omp parallel for reduction(+ : norm)
			for (int v = 0; v < VOCABULARY; v++)
				norm += vectors[v][0] * vectors[v][0];
			printf("checkpoint, norm %f\n", norm);
		}
	}
	return epoch;
}

/* --- a self-organising map, in batches, that gets stiffer --- */

enum { POINTS = 3000, CELLS = 100, DIMS = 8 };

static double points[POINTS][DIMS], codebook[CELLS][DIMS];
static int winner[POINTS];

static void find_winners(void)
{
#pragma omp parallel for schedule(dynamic, 64)
	for (int p = 0; p < POINTS; p++) {
		double best = 1e30;

		for (int c = 0; c < CELLS; c++) {
			double far = 0;

			for (int d = 0; d < DIMS; d++)
				far += pow(points[p][d] - codebook[c][d], 2);
			if (far < best) {
				best = far;
				winner[p] = c;
			}
		}
	}
}

static double quantization_error(void)
{
	double sum = 0;

	find_winners();
#pragma omp parallel for reduction(+ : sum)
	for (int p = 0; p < POINTS; p++)
		sum += fabs(points[p][0] - codebook[winner[p]][0]);
	return sum / POINTS;
}

int map(void)
{
	int epoch;

	draw(points, POINTS * DIMS, 1);
	draw(codebook, CELLS * DIMS, 1);
	printf("error at first %f\n", quantization_error());
	for (epoch = 0; epoch < 80; epoch++) {
		const double radius = 5 * exp(-epoch / 30.0) + 0.5;

		find_winners();
#pragma omp parallel for
		for (int c = 0; c < CELLS; c++) {
			double top[DIMS] = {0}, weight = 1e-9;

			for (int p = 0; p < POINTS; p++) {
				const int x = winner[p] % 10 - c % 10;
				const int y = winner[p] / 10 - c / 10;
				const double h = exp(-(x * x + y * y) /
						     (radius * radius));

				weight += h;
				for (int d = 0; d < DIMS; d++)
					top[d] += h * points[p][d];
			}
			for (int d = 0; d < DIMS; d++)
				codebook[c][d] = top[d] / weight;
		}
		if ((epoch + 1) % 10 == 0)
			printf("%d: %f\n", epoch, quantization_error());
	}
	return epoch;
}

/* --- a restricted Boltzmann machine, contrastive divergence --- */

enum { ROWS = 64, VISIBLE = 100, HIDDEN = 40 };

static double machine[HIDDEN][VISIBLE], change[HIDDEN][VISIBLE],
	data[ROWS][VISIBLE], model[ROWS][VISIBLE], up[ROWS][HIDDEN],
	kept[ROWS][HIDDEN];

static void sample_hidden(const double (*v)[VISIBLE], double (*h)[HIDDEN])
{
#pragma omp parallel for
	for (int r = 0; r < ROWS; r++) {
		for (int j = 0; j < HIDDEN; j++) {
			double sum = 0;

			for (int i = 0; i < VISIBLE; i++)
				sum += machine[j][i] * v[r][i];
			h[r][j] = 1 / (1 + exp(-sum)) > 0.5;
		}
	}
}

static void sample_visible(const double (*h)[HIDDEN], double (*v)[VISIBLE])
{
#pragma omp parallel for
	for (int r = 0; r < ROWS; r++) {
		for (int i = 0; i < VISIBLE; i++) {
			double sum = 0;

			for (int j = 0; j < HIDDEN; j++)
				sum += machine[j][i] * h[r][j];
			v[r][i] = 1 / (1 + exp(-sum));
		}
	}
}

static double free_energy(const double (*v)[VISIBLE])
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int r = 0; r < ROWS; r++) {
		for (int j = 0; j < HIDDEN; j++)
			sum -= log1p(exp(tanh(machine[j][0] * v[r][0])));
	}
	return sum / ROWS;
}

int boltzmann(void)
{
	int updates = 0;

	draw(machine, HIDDEN * VISIBLE, 0.1);
	for (int epoch = 0; epoch < 6; epoch++) {
		const int k = 1 + epoch / 2;

		for (int batch = 0; batch < 25; batch++, updates++) {
			draw(data, ROWS * VISIBLE, 1);
			sample_hidden(data, kept);
			memcpy(up, kept, sizeof(up));
			for (int s = 0; s < k; s++) {
				sample_visible(up, model);
				sample_hidden(model, up);
			}
#pragma omp parallel for
			for (int j = 0; j < HIDDEN; j++) {
				for (int i = 0; i < VISIBLE; i++) {
					double g = 0;

					for (int r = 0; r < ROWS; r++)
						g += kept[r][j] * data[r][i] -
						     up[r][j] * model[r][i];
					change[j][i] = 0.5 * change[j][i] + g;
				}
			}
#pragma omp parallel for
			for (int j = 0; j < HIDDEN; j++) {
				for (int i = 0; i < VISIBLE; i++)
					machine[j][i] += 1e-3 * change[j][i];
			}
		}
		sample_hidden(data, up);
		sample_visible(up, model);
		printf("epoch %d, energies %f %f\n", epoch, free_energy(data),
		       free_energy(model));
	}
	return updates;
}

/* --- evolution with a matrix of covariances --- */

enum { DIM = 40, LAMBDA = 24, MU = 12 };

static double covariance[DIM][DIM], basis[DIM][DIM], scale[DIM], mean[DIM],
	path[DIM], drawn[LAMBDA][DIM], trial[LAMBDA][DIM], cost[LAMBDA];
static int ranked[LAMBDA];

static int by_cost(const void *a, const void *b)
{
	const double d = cost[*(const int *)a] - cost[*(const int *)b];

	return (d > 0) - (d < 0);
}

/* Powers of the matrix, until the basis stays: as often as it needs. */
static void eigen_decomposition(void)
{
	double moved = 1;

	for (int sweep = 0; sweep < 12 && moved > 0.05; sweep++) {
		moved = 0;
#pragma omp parallel for
		for (int k = 0; k < DIM; k++) {
			double next[DIM] = {0};

			for (int i = 0; i < DIM; i++) {
				for (int j = 0; j < DIM; j++)
					next[i] +=
						covariance[i][j] * basis[k][j];
			}
			memcpy(basis[k], next, sizeof(next));
		}
#pragma omp parallel for reduction(+ : moved)
		for (int k = 0; k < DIM; k++) {
			double size = 1e-12;

			for (int i = 0; i < DIM; i++)
				size += basis[k][i] * basis[k][i];
			moved += fabs(scale[k] - sqrt(size)) / DIM;
			scale[k] = sqrt(size);
			for (int i = 0; i < DIM; i++)
				basis[k][i] /= scale[k];
		}
	}
}

static void draw_trials(int generation, double sigma)
{
#pragma omp parallel for
	for (int l = 0; l < LAMBDA; l++) {
		unsigned int seed = 1 + l + generation * LAMBDA;

		for (int i = 0; i < DIM; i++)
			drawn[l][i] = rand_r(&seed) / (double)RAND_MAX - 0.5;
		for (int i = 0; i < DIM; i++) {
			trial[l][i] = mean[i];
			for (int k = 0; k < DIM; k++)
				trial[l][i] += sigma * basis[k][i] * scale[k] *
					       drawn[l][k];
		}
	}
}

int covariances(void)
{
	double sigma = 0.3, best = 1e30;
	int generation = 0;

	for (int i = 0; i < DIM; i++) {
		mean[i] = 1 + noise();
		covariance[i][i] = basis[i][i] = scale[i] = 1;
	}
	while (generation < 120 && best > 1e-10) {
		draw_trials(generation, sigma);
#pragma omp parallel for schedule(dynamic)
		for (int l = 0; l < LAMBDA; l++) {
			cost[l] = 0;
			for (int i = 0; i + 1 < DIM; i++)
				cost[l] +=
					100 * pow(trial[l][i + 1] -
							  pow(trial[l][i], 2),
						  2) +
					pow(1 - trial[l][i], 2);
		}
		for (int l = 0; l < LAMBDA; l++)
			ranked[l] = l;
		qsort(ranked, LAMBDA, sizeof(*ranked), by_cost);
		best = fmin(best, cost[ranked[0]]);
		for (int i = 0; i < DIM; i++) {
			double next = 0;

			for (int m = 0; m < MU; m++)
				next += trial[ranked[m]][i] / MU;
			path[i] = 0.8 * path[i] + 0.2 * (next - mean[i]);
			mean[i] = next;
		}
#pragma omp parallel for
		for (int i = 0; i < DIM; i++) {
			for (int j = 0; j < DIM; j++) {
				double rank = path[i] * path[j];

				for (int m = 0; m < MU; m++)
					rank += drawn[ranked[m]][i] *
						drawn[ranked[m]][j] / MU;
				covariance[i][j] =
					0.9 * covariance[i][j] + 0.1 * rank;
			}
		}
		sigma *= 0.99;
		if (generation % 4 == 3)
			eigen_decomposition();
		if (generation++ % 20 == 0)
			printf("%d: %g\n", generation, best);
	}
	return generation;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
