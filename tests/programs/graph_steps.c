/* SPDX-License-Identifier: MIT */
/*
 * graph_steps.c - steps that launch several CUDA graphs in turn, and nothing
 * else; or one of several, by the size of what is copied in before.
 *
 *	graph_steps [STEPS [GRAPHS [sizes]]]
 *
 * Graph n has n + 1 kernels.
 */
#include "runtime_client.h"

#include <stdio.h>
#include <unistd.h>

#define GRAPHS_MAX 8

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 40;
	const int graphs = argc > 2 ? atoi(argv[2]) : 3;
	void *graph[GRAPHS_MAX], *stream, *memory;
	static char host[4096];
	unsigned int random = 12345;

	runtime_find();
	CUDA(cudaStreamCreate, &stream);
	CUDA(cudaMalloc, &memory, sizeof(host));
	for (int i = 0; i < graphs; i++)
		graph[i] = runtime_graph(i + 1);
	for (int step = 0; step < steps; step++) {
		random = random * 1664525 + 1013904223;
		if (argc > 3) {
			CUDA(cudaMemcpyAsync, memory, host, sizeof(host), 1,
			     stream);
			CUDA(cudaGraphLaunch,
			     graph[(random >> 16) % (unsigned int)graphs],
			     stream);
		}
		for (int i = 0; argc <= 3 && i < graphs; i++)
			CUDA(cudaGraphLaunch, graph[i], stream);
		CUDA(cudaStreamSynchronize, stream);
		usleep(3000);
	}
	printf("%d steps\n", steps);
	return 0;
}
