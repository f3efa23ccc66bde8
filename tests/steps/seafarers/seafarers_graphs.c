/* SPDX-License-Identifier: MIT */
/* seafarers_graphs.c - as seafarers.c: graphs, and what is asked of them. */
#define LENGTH 3000
#include "../vectors.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { NODES = LENGTH, EDGES = 8, WIDE = 24 };

static int edge[NODES][EDGES], level[NODES], colour[NODES], wish[NODES];
static double far[NODES], rank[NODES], next[NODES], excess[NODES];

static void make_graph(int seed)
{
	srand((unsigned int)seed);
	for (int i = 0; i < NODES; i++) {
		for (int e = 0; e < EDGES; e++)
			edge[i][e] = rand() % 5 ? (i + rand() % 60) % NODES
						: rand() % NODES;
	}
}

/* --- questions of three kinds, as they come --- */

static int search(int from)
{
	int found = 1, depth = 0;

#pragma omp parallel for
	for (int i = 0; i < NODES; i++)
		level[i] = i == from ? 0 : -1;
	for (; found; depth++) {
		found = 0;
#pragma omp parallel for reduction(+ : found)
		for (int i = 0; i < NODES; i++) {
			for (int e = 0; e < EDGES && level[i] < 0; e++) {
				if (level[edge[i][e]] == depth) {
					level[i] = depth + 1;
					found++;
				}
			}
		}
	}
	return depth;
}

static int ways(int from)
{
	int changed = 1, rounds = 0;

#pragma omp parallel for
	for (int i = 0; i < NODES; i++)
		far[i] = i == from ? 0 : 1e9;
	for (; changed; rounds++) {
		changed = 0;
#pragma omp parallel for reduction(+ : changed)
		for (int i = 0; i < NODES; i++) {
			for (int e = 0; e < EDGES; e++) {
				const double to =
					far[edge[i][e]] + 1 + (i * e) % 9;

				if (to < far[i]) {
					far[i] = to;
					changed++;
				}
			}
		}
	}
	return rounds;
}

static int close_to(int from)
{
	double change = 1;
	int rounds = 0;

#pragma omp parallel for
	for (int i = 0; i < NODES; i++)
		rank[i] = i == from;
	for (; change > 1e-3 && rounds < 40; rounds++) {
		change = 0;
#pragma omp parallel for
		for (int i = 0; i < NODES; i++) {
			next[i] = 0.2 * (i == from);
			for (int e = 0; e < EDGES; e++)
				next[i] += 0.8 / EDGES * rank[edge[i][e]];
		}
#pragma omp parallel for reduction(+ : change)
		for (int i = 0; i < NODES; i++) {
			change += fabs(next[i] - rank[i]);
			rank[i] = next[i];
		}
	}
	return rounds;
}

int questions(void)
{
	int asked = 0;

	make_graph(1);
	for (; asked < 60; asked++) {
		const int from = rand() % NODES;
		int best = 0;

		switch (rand() % 3) {
		case 0: best = search(from); break;
		case 1: best = ways(from); break;
		default: best = close_to(from);
		}
		printf("%d: %d\n", asked, best);
	}
	return asked;
}

/* --- colours: all at once, and those again who are at odds; 20 graphs --- */

int colours(void)
{
	int graph = 0, rounds = 0;

	for (; graph < 20; graph++) {
		int odd = 1, most = 0;

		make_graph(graph);
#pragma omp parallel for
		for (int i = 0; i < NODES; i++)
			colour[i] = -1;
		while (odd) {
#pragma omp parallel for
			for (int i = 0; i < NODES; i++) {
				unsigned int used = 0;

				wish[i] = colour[i];
				if (colour[i] >= 0)
					continue;
				for (int e = 0; e < EDGES; e++) {
					const int c = colour[edge[i][e]];

					used |= c < 0 ? 0 : 1u << c;
				}
				wish[i] = __builtin_ctz(~used);
			}
			odd = 0;
#pragma omp parallel for reduction(+ : odd)
			for (int i = 0; i < NODES; i++) {
				colour[i] = wish[i];
				for (int e = 0; e < EDGES; e++) {
					if (edge[i][e] < i &&
					    wish[edge[i][e]] == wish[i]) {
						colour[i] = -1;
						odd++;
						break;
					}
				}
			}
			rounds++;
		}
#pragma omp parallel for reduction(max : most)
		for (int i = 0; i < NODES; i++)
			most = colour[i] > most ? colour[i] : most;
		printf("%d: %d colours\n", graph, most + 1);
	}
	printf("rounds %d\n", rounds);
	return graph;
}

/* --- flow: what is too much is pushed on; heights anew each 20 pulses --- */

int flow(void)
{
	int pulse = 0;

	make_graph(2);
	for (int i = 0; i < NODES; i++)
		excess[i] = fabs(noise());
	for (; pulse < 200; pulse++) {
		double left = 0;

		if (pulse % 20 == 0) {
			for (int k = 0; k < 6; k++) {
#pragma omp parallel for
				for (int i = 0; i < NODES; i++)
					level[i] =
						1 + level[edge[i][0]] % NODES;
			}
		}
#pragma omp parallel for
		for (int i = 0; i < NODES; i++)
			next[i] = level[edge[i][pulse % EDGES]] < level[i]
					  ? excess[i] / 2
					  : 0;
#pragma omp parallel for reduction(+ : left)
		for (int i = 0; i < NODES; i++) {
			excess[i] += next[edge[i][1]] - next[i];
			left += excess[i] > 1;
		}
#pragma omp parallel for
		for (int i = 0; i < NODES; i++)
			level[i] += excess[i] > 1 && next[i] == 0;
		if (pulse % 50 == 49)
			printf("%d: %f\n", pulse, left);
	}
	return pulse;
}

/* --- a network on parts of a graph, and on all of it after each epoch --- */

static double feature[NODES][WIDE], hidden[NODES][WIDE], weight[2][WIDE][WIDE],
	slope[WIDE][WIDE];

static void gather(double (*to)[WIDE], double (*from)[WIDE], int every)
{
#pragma omp parallel for
	for (int i = 0; i < NODES; i += every) {
		for (int k = 0; k < WIDE; k++) {
			double sum = 0;

			for (int e = 0; e < EDGES; e++)
				sum += from[edge[i][e]][k];
			to[i][k] = sum / EDGES;
		}
	}
}

static void dense(double (*to)[WIDE], const double (*with)[WIDE], int every)
{
#pragma omp parallel for
	for (int i = 0; i < NODES; i += every) {
		double made[WIDE];

		for (int k = 0; k < WIDE; k++) {
			made[k] = 0;
			for (int j = 0; j < WIDE; j++)
				made[k] += with[k][j] * to[i][j];
		}
		for (int k = 0; k < WIDE; k++)
			to[i][k] = tanh(made[k]);
	}
}

static void infer(int every)
{
	for (int l = 0; l < 2; l++) {
		gather(l ? hidden : feature, l ? feature : hidden, every);
		dense(l ? hidden : feature, weight[l], every);
	}
}

int sampled(void)
{
	int batches = 0;

	make_graph(3);
	for (int i = 0; i < 2 * WIDE * WIDE; i++)
		weight[i / WIDE / WIDE][i / WIDE % WIDE][i % WIDE] = noise();
	for (int epoch = 0; epoch < 5; epoch++) {
		double loss = 0;

		for (int b = 0; b < 16; b++, batches++) {
#pragma omp parallel for
			for (int i = 0; i < NODES; i += 8)
				wish[i] = edge[i][b % EDGES];
			infer(8);
			for (int l = 1; l >= 0; l--) {
#pragma omp parallel for
				for (int k = 0; k < WIDE; k++) {
					for (int j = 0; j < WIDE; j++)
						slope[k][j] = hidden[b][k] *
							      feature[b][j];
				}
#pragma omp parallel for
				for (int k = 0; k < WIDE; k++) {
					for (int j = 0; j < WIDE; j++)
						weight[l][k][j] -=
							1e-3 * slope[k][j];
				}
			}
		}
		infer(1);
#pragma omp parallel for reduction(+ : loss)
		for (int i = 0; i < NODES; i++)
			loss += fabs(hidden[i][0] - 0.1);
		printf("%d: %f\n", epoch, loss);
	}
	return batches;
}

/* --- once through: there is no loop --- */

int once(void)
{
	make_graph(4);
	double all = dot(rank, rank);

#pragma omp parallel for
	for (int i = 0; i < NODES; i++)
		level[i] = edge[i][0] > i;
#pragma omp parallel for reduction(+ : all)
	for (int i = 0; i < NODES; i++)
		all += level[i];
	printf("%f %d\n", all, search(0));
	return 0;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
