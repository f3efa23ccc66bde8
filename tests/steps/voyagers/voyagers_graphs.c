/* SPDX-License-Identifier: MIT */
/* voyagers_graphs.c - as voyagers.c: graphs, and numbers that are counted. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 3000, EDGES = 8 };

static int edge[NODES][EDGES], label[NODES], before[NODES], degree[NODES],
	level[NODES], weight[NODES];
static double rank[NODES], next_rank[NODES];
static bool is_gone[NODES];

static void make_graph(int seed)
{
	srand((unsigned int)seed);
	for (int i = 0; i < NODES; i++) {
		for (int e = 0; e < EDGES; e++)
			edge[i][e] = rand() % 4 ? (i + rand() % 40) % NODES
						: rand() % NODES;
	}
}

/* --- communities: moves until nobody gains, and the graph of those --- */

int communities(void)
{
	int passes = 0;

	make_graph(1);
	for (int round = 0; round < 4; round++) {
		int moved = NODES;

#pragma omp parallel for
		for (int i = 0; i < NODES; i++) {
			label[i] = i;
			degree[i] = EDGES;
		}
		for (int k = 0; k < 14 && moved > NODES / (20 + 7 * round);
		     k++, passes++) {
			moved = 0;
#pragma omp parallel for
			for (int i = 0; i < NODES; i++)
				before[i] = label[i];
#pragma omp parallel for reduction(+ : moved)
			for (int i = 0; i < NODES; i++) {
				int to = label[i];

				for (int e = 0; e < EDGES; e++)
					to = before[edge[i][e]] < to
						     ? before[edge[i][e]]
						     : to;
				moved += to != label[i];
				label[i] = to;
			}
#pragma omp parallel for
			for (int i = 0; i < NODES; i++)
				weight[i] = degree[label[i]];
		}
#pragma omp parallel for
		for (int i = 0; i < NODES; i++) {
			for (int e = 0; e < EDGES; e++)
				edge[i][e] =
					(label[edge[i][e]] + e * 7 + i) % NODES;
		}
		printf("round %d: %d passes\n", round, passes);
	}
	return passes;
}

/* --- edges that come in 40 parts, each until all is as it was --- */

int arrivals(void)
{
	int part = 0;

	make_graph(2);
	for (int i = 0; i < NODES; i++)
		label[i] = i;
	for (; part < 40; part++) {
		int changed = 1;

#pragma omp parallel for
		for (int i = 0; i < NODES / 10; i++)
			edge[i * 10][part % EDGES] =
				(i * 37 + part * 101) % NODES;
#pragma omp parallel for
		for (int i = 0; i < NODES; i++)
			label[i] = i ^ (part & 7);
		while (changed) {
			changed = 0;
#pragma omp parallel for reduction(+ : changed)
			for (int i = 0; i < NODES; i++) {
				for (int e = 0; e < EDGES; e++) {
					const int to = label[edge[i][e]];

					if (to < label[i]) {
						label[i] = to;
						changed++;
					}
				}
			}
#pragma omp parallel for
			for (int i = 0; i < NODES; i++)
				label[i] = label[label[i] % NODES] < label[i]
						   ? label[label[i] % NODES]
						   : label[i];
		}
		if (part % 8 == 7)
			printf("%d: label %d\n", part, label[NODES - 1]);
	}
	return part;
}

/* --- cores: who has too few neighbours goes, until nobody does --- */

int cores(void)
{
	int core = 0, left = NODES;

	make_graph(3);
	for (int i = 0; i < NODES; i++)
		weight[i] = 4 + rand() % 60;
	while (left > 0) {
		int gone;

		core++;
		do {
			gone = 0;
#pragma omp parallel for
			for (int i = 0; i < NODES; i++) {
				degree[i] = weight[i];
				for (int e = 0; e < EDGES; e++)
					degree[i] -= is_gone[edge[i][e]];
			}
#pragma omp parallel for reduction(+ : gone)
			for (int i = 0; i < NODES; i++) {
				if (!is_gone[i] && degree[i] < core) {
					is_gone[i] = true;
					level[i] = core;
					gone++;
				}
			}
			left -= gone;
		} while (gone);
	}
	printf("cores %d\n", core);
	return core;
}

/* --- ranks as 30 people see them, each until they stay --- */

int seeds(void)
{
	int seed = 0, turns = 0;

	make_graph(4);
	for (; seed < 30; seed++) {
		double change = 1;

#pragma omp parallel for
		for (int i = 0; i < NODES; i++)
			rank[i] = i == seed * 97;
		for (int k = 0; k < 60 && change > 1e-4 * (1 + seed % 5);
		     k++, turns++) {
			change = 0;
#pragma omp parallel for
			for (int i = 0; i < NODES; i++) {
				double sum = 0;

				for (int e = 0; e < EDGES; e++)
					sum += rank[edge[i][e]] / EDGES;
				next_rank[i] =
					0.8 * sum + 0.2 * (i == seed * 97);
			}
#pragma omp parallel for reduction(+ : change)
			for (int i = 0; i < NODES; i++)
				change += fabs(next_rank[i] - rank[i]);
#pragma omp parallel for
			for (int i = 0; i < NODES; i++)
				rank[i] = next_rank[i];
		}
#pragma omp parallel for
		for (int i = 0; i < NODES; i++)
			label[i] = rank[i] > 1e-3;
		printf("seed %d: %d turns\n", seed, turns);
	}
	printf("turns %d\n", turns);
	return seed;
}

/* --- searches from 32 roots, forward while few are new, and then backward,
 * each looked over --- */

int roots(void)
{
	int root = 0;

	make_graph(5);
	for (; root < 32; root++) {
		int found = 1, depth = 0, wrong = 0;

#pragma omp parallel for
		for (int i = 0; i < NODES; i++)
			level[i] = i == root * 91 ? 0 : -1;
		while (found) {
			const bool is_wide = found > NODES / 6;

			found = 0;
			if (is_wide) {
#pragma omp parallel for reduction(+ : found)
				for (int i = 0; i < NODES; i++) {
					for (int e = 0;
					     e < EDGES && level[i] < 0; e++) {
						if (level[edge[i][e]] ==
						    depth) {
							level[i] = depth + 1;
							found++;
						}
					}
				}
			} else {
#pragma omp parallel for reduction(+ : found)
				for (int i = 0; i < NODES; i++) {
					for (int e = 0;
					     level[i] == depth && e < EDGES;
					     e++) {
						const int to = edge[i][e];

						if (level[to] < 0) {
							level[to] = depth + 1;
							found++;
						}
					}
				}
			}
			depth++;
		}
#pragma omp parallel for reduction(+ : wrong)
		for (int i = 0; i < NODES; i++)
			wrong += level[i] > depth;
		printf("root %d: depth %d, wrong %d\n", root, depth, wrong);
	}
	return root;
}

/* --- triangles, once: there is no loop --- */

int triangles(void)
{
	long triangles = 0, wedges = 0;

	make_graph(6);
#pragma omp parallel for
	for (int i = 0; i < NODES; i++)
		degree[i] = EDGES;
#pragma omp parallel for reduction(+ : wedges)
	for (int i = 0; i < NODES; i++)
		wedges += degree[i] * (degree[i] - 1) / 2;
#pragma omp parallel for reduction(+ : triangles) schedule(dynamic, 32)
	for (int i = 0; i < NODES; i++) {
		for (int e = 0; e < EDGES; e++) {
			for (int k = 0; k < EDGES; k++)
				triangles += edge[edge[i][e]][k] == i;
		}
	}
	printf("%ld of %ld\n", triangles, wedges);
	return 0;
}

/* --- a genome's pieces: reads in parts, counted, sorted digit by digit --- */

int reads(void)
{
	static unsigned int key[NODES * 4], sorted[NODES * 4];
	static unsigned int count[256];
	int part = 0;

	for (; part < 36; part++) {
		for (int i = 0; i < NODES * 4; i++)
			key[i] = (unsigned int)rand() & 0xffffff;
		for (int digit = 0; digit < 3; digit++) {
			unsigned int sum = 0;

			memset(count, 0, sizeof(count));
#pragma omp parallel for
			for (int i = 0; i < NODES * 4; i++) {
				const unsigned int d =
					key[i] >> digit * 8 & 255;

#pragma omp atomic
				count[d]++;
			}
			for (int d = 0; d < 256; d++) {
				sum += count[d];
				count[d] = sum - count[d];
			}
			for (int i = 0; i < NODES * 4; i++)
				sorted[count[key[i] >> digit * 8 & 255]++] =
					key[i];
#pragma omp parallel for
			for (int i = 0; i < NODES * 4; i++)
				key[i] = sorted[i];
		}
		int several = 0;

#pragma omp parallel for reduction(+ : several)
		for (int i = 1; i < NODES * 4; i++)
			several += key[i] == key[i - 1];
		printf("%d: %d\n", part, several);
	}
	return part;
}

int main(void)
{
	printf("steps %d\n", PROGRAM());
	return 0;
}
