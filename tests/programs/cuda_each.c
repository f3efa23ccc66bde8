/* SPDX-License-Identifier: MIT */
/*
 * cuda_each.c - one sort of CUDA call, over and over, so that its cost can be
 * counted.
 *
 *	cuda_each KIND COUNT
 *
 * KIND is kernel, memcpy, memset, sync, event, call, node, graph or fills; of
 * node, a graph of ten kernels is launched for each ten; of graph, kernels are
 * launched into the capture of one; of fills, a graph of a memset is launched.
 * The runtime is loaded by name and the kernel registered by hand, so that this
 * builds everywhere.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 10, BYTES = 4096, HOST_TO_DEVICE = 1 };

struct size3 {
	unsigned int x, y, z;
};

struct kernel_node {
	void *function;
	struct size3 grid, block;
	unsigned int shared;
	void **arguments, **extra;
};

/*        name                       parameters */
#define RUNTIME_FUNCTIONS(X)                                                   \
	X(__cudaRegisterFatBinary, void **, (void *))                          \
	X(__cudaRegisterFunction, void,                                        \
	  (void **, const void *, void *, const char *, int, void *, void *,   \
	   void *, void *, void *))                                            \
	X(cudaLaunchKernel, int,                                               \
	  (const void *, struct size3, struct size3, void **, size_t, void *)) \
	X(cudaMemcpyAsync, int, (void *, const void *, size_t, int, void *))   \
	X(cudaMemsetAsync, int, (void *, int, size_t, void *))                 \
	X(cudaStreamCreate, int, (void **))                                    \
	X(cudaStreamSynchronize, int, (void *))                                \
	X(cudaStreamGetPriority, int, (void *, int *))                         \
	X(cudaEventCreate, int, (void **))                                     \
	X(cudaEventRecord, int, (void *, void *))                              \
	X(cudaMalloc, int, (void **, size_t))                                  \
	X(cudaMallocHost, int, (void **, size_t))                              \
	X(cudaStreamBeginCapture, int, (void *, int))                          \
	X(cudaStreamEndCapture, int, (void *, void **))                        \
	X(cudaGraphCreate, int, (void **, unsigned int))                       \
	X(cudaGraphAddKernelNode, int,                                         \
	  (void **, void *, const void *, size_t, const struct kernel_node *)) \
	X(cudaGraphInstantiate, int, (void **, void *, unsigned long long))    \
	X(cudaGraphLaunch, int, (void *, void *))

static struct {
#define X(name, result, parameters) result(*name) parameters;
	RUNTIME_FUNCTIONS(X)
#undef X
} cuda;

static const struct size3 one = {1, 1, 1};
static void *stream, *event, *memory, *host, *graph;

/* Its address is what the runtime knows a kernel by. */
static void kernel(void)
{
}

static void *make_graph(void)
{
	const struct kernel_node node = {(void *)kernel, one, one, 0,
					 NULL,		 NULL};
	void *built, *made, *executable;

	if (cuda.cudaGraphCreate(&built, 0))
		exit(3);
	for (int i = 0; i < NODES; i++)
		if (cuda.cudaGraphAddKernelNode(&made, built, NULL, 0, &node))
			exit(3);
	if (cuda.cudaGraphInstantiate(&executable, built, 0))
		exit(3);
	return executable;
}

static void *make_fills(void)
{
	void *built, *executable;

	if (cuda.cudaStreamBeginCapture(stream, 0) ||
	    cuda.cudaMemsetAsync(memory, 1, BYTES, stream) ||
	    cuda.cudaStreamEndCapture(stream, &built) ||
	    cuda.cudaGraphInstantiate(&executable, built, 0))
		exit(3);
	return executable;
}

static int turn(const char *kind)
{
	int priority;

	switch (kind[0]) {
	case 'g':
	case 'k':
		return cuda.cudaLaunchKernel((const void *)kernel, one, one,
					     NULL, 0, stream);
	case 'm':
		return strcmp(kind, "memset")
			       ? cuda.cudaMemcpyAsync(memory, host, BYTES,
						      HOST_TO_DEVICE, stream)
			       : cuda.cudaMemsetAsync(memory, 1, BYTES, stream);
	case 's': return cuda.cudaStreamSynchronize(stream);
	case 'e': return cuda.cudaEventRecord(event, stream);
	case 'f':
	case 'n': return cuda.cudaGraphLaunch(graph, stream);
	default: return cuda.cudaStreamGetPriority(stream, &priority);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "kernel";
	const int count = argc > 2 ? atoi(argv[2]) : 1;
	const int each = kind[0] == 'n' ? NODES : 1;
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);

	if (!runtime)
		return 77;
#define X(name, result, parameters)                                            \
	*(void **)(void *)&cuda.name = dlsym(runtime, #name);                  \
	if (!cuda.name)                                                        \
		return 2;
	RUNTIME_FUNCTIONS(X)
#undef X
	cuda.__cudaRegisterFunction(cuda.__cudaRegisterFatBinary(NULL),
				    (const void *)kernel, NULL, "_Z6kernelv",
				    -1, NULL, NULL, NULL, NULL, NULL);
	if (cuda.cudaStreamCreate(&stream) || cuda.cudaEventCreate(&event) ||
	    cuda.cudaMalloc(&memory, BYTES) ||
	    cuda.cudaMallocHost(&host, BYTES))
		return 1;
	graph = kind[0] == 'f' ? make_fills() : make_graph();
	if (kind[0] == 'g' && cuda.cudaStreamBeginCapture(stream, 0))
		return 1;
	for (int i = 0; i < count; i += each)
		if (turn(kind))
			return 1;
	if (kind[0] == 'g' && cuda.cudaStreamEndCapture(stream, &graph))
		return 1;
	return 0;
}
