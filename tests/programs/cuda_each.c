/* SPDX-License-Identifier: MIT */
/*
 * cuda_each.c - one sort of CUDA call, over and over, so that its cost can be
 * counted.
 *
 *	cuda_each KIND COUNT
 *
 * KIND is kernel, memcpy, memset, sync, event, call, wrong (a call that fails),
 * pool (memory of one, and free again), onhost (a host function), unified (a
 * kernel where managed memory is, and a wait), across (a copy from one GPU to
 * another), jit (a module of PTX, loaded), node, graph, fills, hollow or loop;
 * of node, a graph of ten kernels is launched for each ten; of graph,
 * kernels are launched into the capture of one; of fills, a graph of a memset
 * is launched; of hollow, one of nothing; of loop, one of ten kernels before
 * two memsets each five milliseconds, where there is one of nothing.
 */
#include "runtime_client.h"

#include <string.h>
#include <unistd.h>

enum { NODES = 10, BYTES = 4096, HOST_TO_DEVICE = 1 };

static int (*copy_across)(void *to, int to_device, const void *from,
			  int from_device, size_t bytes, void *stream);
static int (*load_module)(void **module, const void *image);
static void *stream, *event, *memory, *host, *managed, *graph;

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

static void nothing(void *unused)
{
	(void)unused;
}

/* Not in runtime_client.h, since no other program has need of them. */
static void find_more(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	*(void **)(void *)&copy_across =
		dlsym(RTLD_DEFAULT, "cudaMemcpyPeerAsync");
	if (driver)
		*(void **)(void *)&load_module =
			dlsym(driver, "cuModuleLoadData");
	if (!copy_across || !load_module)
		exit(NO_RUNTIME);
}

static int load(void)
{
	void *module;

	return load_module(&module, ".version 7.0\n.target sm_50\n"
				    ".address_size 64\n");
}

static int pool(void)
{
	void *block;

	return cuda.cudaMallocAsync(&block, BYTES, stream) ||
	       cuda.cudaFreeAsync(block, stream);
}

static int turn(const char *kind)
{
	int priority;

	switch (kind[0]) {
	case 'a': return copy_across(memory, 1, host, 0, BYTES, stream);
	case 'j': return load();
	case 'g':
	case 'k':
		return cuda.cudaLaunchKernel((const void *)kernel, one, one,
					     NULL, 0, stream);
	case 'm':
		return strcmp(kind, "memset")
			       ? cuda.cudaMemcpyAsync(memory, host, BYTES,
						      HOST_TO_DEVICE, stream)
			       : cuda.cudaMemsetAsync(memory, 1, BYTES, stream);
	case 'l':
		usleep(5000);
		return cuda.cudaGraphLaunch(graph, stream) ||
		       cuda.cudaMemsetAsync(memory, 1, BYTES, stream) ||
		       cuda.cudaMemsetAsync(memory, 2, BYTES, stream);
	case 'o': return cuda.cudaLaunchHostFunc(stream, nothing, NULL);
	case 'p': return pool();
	case 'u': launch(stream, 1); return cuda.cudaDeviceSynchronize();
	case 'w': return !cuda.cudaGraphLaunch(NULL, stream);
	case 's': return cuda.cudaStreamSynchronize(stream);
	case 'e': return cuda.cudaEventRecord(event, stream);
	case 'f':
	case 'h':
	case 'n': return cuda.cudaGraphLaunch(graph, stream);
	default: return cuda.cudaStreamGetPriority(stream, &priority);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "kernel";
	const int count = argc > 2 ? atoi(argv[2]) : 1;
	const int each = kind[0] == 'n' ? NODES : 1;

	runtime_find();
	find_more();
	if (cuda.cudaStreamCreate(&stream) || cuda.cudaEventCreate(&event) ||
	    cuda.cudaMalloc(&memory, BYTES) ||
	    cuda.cudaMallocHost(&host, BYTES) ||
	    (kind[0] == 'u' && cuda.cudaMallocManaged(&managed, BYTES, 1)))
		return 1;
	graph = kind[0] == 'f'	 ? make_fills()
		: kind[0] == 'h' ? runtime_graph(0)
				 : runtime_graph(NODES);
	if (kind[0] == 'l')
		runtime_graph(0);
	if (kind[0] == 'g' && cuda.cudaStreamBeginCapture(stream, 0))
		return 1;
	for (int i = 0; i < count; i += each)
		if (turn(kind))
			return 1;
	if (kind[0] == 'g' && cuda.cudaStreamEndCapture(stream, &graph))
		return 1;
	return 0;
}
