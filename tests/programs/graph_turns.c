/* SPDX-License-Identifier: MIT */
/*
 * graph_turns.c - threads whose CUDA graphs never stay what they are.
 *
 *	graph_turns [STEPS [THREADS [NODES]]]
 *
 * Each thread launches its graph some times a step, and kernels beside it.  The
 * graph gets other parameters by an update, or is made anew with another number
 * of nodes while its last launch runs; in some steps a node is off for some of
 * the launches, and in some a graph of no kernel is launched.
 */
#include "turns.h"

enum { KERNELS, SETS, GRAPHS, PLAIN };
enum { BYTES = 4096 };

static struct own {
	void *stream, *graph, *executable, *first, *memory, *fills;
	int nodes;
} own[THREADS_MOST];
static int most = 3;

static void *make_graph(int nodes, unsigned int blocks, void **first)
{
	const struct kernel_node node = {
		(void *)kernel, {blocks, 1, 1}, one, 0, NULL, NULL};
	void *graph, *added;

	CUDA(cudaGraphCreate, &graph, 0);
	for (int i = 0; i < nodes; i++) {
		CUDA(cudaGraphAddKernelNode, &added, graph, NULL, 0, &node);
		if (!i)
			*first = added;
	}
	return graph;
}

/* The launch before may go on. */
static void make_anew(struct own *self, int nodes)
{
	if (self->executable) {
		CUDA(cudaGraphExecDestroy, self->executable);
		CUDA(cudaGraphDestroy, self->graph);
	}
	self->nodes = nodes;
	self->graph = make_graph(nodes, 1, &self->first);
	CUDA(cudaGraphInstantiate, &self->executable, self->graph, 0);
}

static void update(struct own *self, int step)
{
	void *first;
	void *graph = make_graph(self->nodes, 2 + (unsigned int)step, &first);

	CUDA(cudaGraphExecUpdate, self->executable, graph, NULL);
	CUDA(cudaGraphDestroy, graph);
}

static void make_fills(struct own *self)
{
	void *graph;

	CUDA(cudaMallocAsync, &self->memory, BYTES, self->stream);
	CUDA(cudaStreamBeginCapture, self->stream, 0);
	CUDA(cudaMemsetAsync, self->memory, 0, BYTES, self->stream);
	CUDA(cudaMemsetAsync, self->memory, 1, BYTES, self->stream);
	CUDA(cudaStreamEndCapture, self->stream, &graph);
	CUDA(cudaGraphInstantiate, &self->fills, graph, 0);
}

static void run(struct own *self, int step, int kernels)
{
	CUDA(cudaGraphLaunch, self->executable, self->stream);
	done[step][KERNELS] += kernels;
	done[step][GRAPHS]++;
}

static void work(int thread, int step)
{
	struct own *self = &own[thread];

	if (!self->stream) {
		CUDA(cudaStreamCreate, &self->stream);
		make_fills(self);
	}
	if (step % 4 == 0)
		make_anew(self, 2 + (step / 4 + thread) % most);
	else if (step % 2)
		update(self, step);
	run(self, step, self->nodes);
	if (step % 4 == 2) {
		CUDA(cudaGraphNodeSetEnabled, self->executable, self->first, 0);
		run(self, step, self->nodes - 1);
		CUDA(cudaGraphNodeSetEnabled, self->executable, self->first, 1);
	}
	if (step % 4 == 1) {
		CUDA(cudaGraphLaunch, self->fills, self->stream);
		done[step][SETS] += 2;
		done[step][GRAPHS]++;
	}
	launch(self->stream, 1);
	done[step][KERNELS]++;
	done[step][PLAIN]++;
	run(self, step, self->nodes);
}

int main(int argc, char **argv)
{
	static const char *const sorts[] = {
		"kernel", "gpu_memset", "cudaGraphLaunch", "cudaLaunchKernel"};
	const int steps = argc > 1 ? atoi(argv[1]) : 12;
	const int threads = argc > 2 ? atoi(argv[2]) : 4;

	most = argc > 3 ? atoi(argv[3]) : most;
	runtime_find();
	turns_run(steps, threads, work, NULL);
	CUDA(cudaDeviceSynchronize);
	turns_tell(sorts, 4);
	return 0;
}
