// SPDX-License-Identifier: MIT
// PageRank until it changes by less than a bound, which the host reads in each round;
// for four teleports.
#include <cmath>
#include <cstdio>
#include <utility>

#include <cuda_runtime.h>

enum { PAGES = 1 << 16, LINKS = 8, GRAPHS = 4 };

__global__ void even(float *rank)
{
	rank[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f / PAGES;
}

__global__ void clear(float *next, float base)
{
	next[blockIdx.x * blockDim.x + threadIdx.x] = base;
}

__global__ void follow(const float *rank, float *next, float damp)
{
	unsigned page = blockIdx.x * blockDim.x + threadIdx.x;

	for (unsigned link = 0; link < LINKS; link++)
		atomicAdd(&next[(page * 2654435761u + link * link * 40503u) % PAGES],
			  damp * rank[page] / LINKS);
}

__global__ void change(const float *rank, const float *next, float *sum)
{
	int page = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(sum, fabsf(rank[page] - next[page]));
}

int main()
{
	float *rank, *next, *sum, seen;
	int rounds = 0;

	cudaMalloc(&rank, PAGES * sizeof *rank);
	cudaMalloc(&next, PAGES * sizeof *next);
	cudaMalloc(&sum, sizeof *sum);
	for (int graph = 0; graph < GRAPHS; graph++) {
		float damp = 0.95f - 0.02f * graph;
		int turns = 0;

		even<<<PAGES / 256, 256>>>(rank);
		do {
			clear<<<PAGES / 256, 256>>>(next, (1 - damp) / PAGES);
			follow<<<PAGES / 256, 256>>>(rank, next, damp);
			cudaMemset(sum, 0, sizeof *sum);
			change<<<PAGES / 256, 256>>>(rank, next, sum);
			cudaMemcpy(&seen, sum, sizeof seen, cudaMemcpyDeviceToHost);
			std::swap(rank, next);
			turns++;
		} while (turns < 60 + 5 * graph);
		rounds += turns;
		printf("graph %d: %d rounds, %s\n", graph, turns,
		       seen < 1 ? "done" : "not done");
	}
	printf("steps %d %d\n", rounds, GRAPHS);
	return 0;
}
