/* SPDX-License-Identifier: MIT */
/*
 * cuda_graphs.cu - graphs whose launches run other kernels than they have nodes.
 *
 *	cuda_graphs off|empty|fills|captured|updated|child|inside TIMES
 *
 * off		a graph of three kernels, one of which is switched off
 * empty	a graph without a node
 * fills	a graph of two memsets
 * captured	a graph of a capture, of memory, three kernels and a copy
 * updated	a graph of two kernels, updated between its launches
 * child	a graph of two kernels and of a child graph of two more
 * inside	a graph of a kernel and of a copy from the device to the device,
 *		which a driver may turn into a kernel
 *
 * Prints the kernels, memsets and copies that ran, a plain kernel among them.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16 };

static cudaStream_t stream;
static int kernels = 1, fills, copies;

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "cuda_graphs: %s: %s\n", what, cudaGetErrorName(error));
	exit(1);
}

__global__ void node_kernel(char *data)
{
	if (data)
		data[threadIdx.x] += 1;
}

__global__ void plain_kernel(void)
{
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, unsigned int blocks)
{
	cudaKernelNodeParams kernel = {};
	char *none = NULL;
	void *arguments[] = {&none};
	cudaGraphNode_t added;

	kernel.func = (void *)node_kernel;
	kernel.gridDim = dim3(blocks);
	kernel.blockDim = dim3(32);
	kernel.kernelParams = arguments;
	check(cudaGraphAddKernelNode(&added, graph, NULL, 0, &kernel), "node");
	return added;
}

static cudaGraph_t with_kernels(int count, unsigned int blocks)
{
	cudaGraph_t graph;

	check(cudaGraphCreate(&graph, 0), "graph");
	for (int i = 0; i < count; i++)
		add_kernel(graph, blocks);
	return graph;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t executable;

	check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
	return executable;
}

static void launch(cudaGraphExec_t executable, int times)
{
	for (int i = 0; i < times; i++)
		check(cudaGraphLaunch(executable, stream), "launch");
	check(cudaStreamSynchronize(stream), "wait");
}

static void off(int times)
{
	cudaGraph_t graph = with_kernels(2, 1);
	cudaGraphNode_t third = add_kernel(graph, 1);
	cudaGraphExec_t executable = instantiate(graph);

	launch(executable, times);
	check(cudaGraphNodeSetEnabled(executable, third, 0), "off");
	launch(executable, times);
	kernels += 3 * times + 2 * times;
}

static void empty(int times)
{
	launch(instantiate(with_kernels(0, 1)), times);
}

static void of_fills(int times)
{
	cudaMemsetParams params = {};
	cudaGraph_t graph = with_kernels(0, 1);
	cudaGraphNode_t node;
	void *data;

	check(cudaMalloc(&data, BYTES), "memory");
	params.dst = data;
	params.elementSize = 1;
	params.width = BYTES;
	params.height = 1;
	for (int i = 0; i < 2; i++)
		check(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params),
		      "memset node");
	launch(instantiate(graph), times);
	fills += 2 * times;
}

static void captured(int times)
{
	static char kept[BYTES];
	cudaGraph_t graph;
	void *memory;

	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
	      "capture");
	check(cudaMallocAsync(&memory, BYTES, stream), "captured memory");
	for (int i = 0; i < 3; i++)
		node_kernel<<<1, 32, 0, stream>>>((char *)memory);
	check(cudaMemcpyAsync(kept, memory, BYTES, cudaMemcpyDeviceToHost,
			      stream),
	      "captured copy");
	check(cudaFreeAsync(memory, stream), "captured free");
	check(cudaStreamEndCapture(stream, &graph), "capture");
	launch(instantiate(graph), times);
	kernels += 3 * times;
	copies += times;
}

static void updated(int times)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t executable = instantiate(with_kernels(2, 1));

	for (int i = 0; i < times; i++) {
		check(cudaGraphExecUpdate(executable, with_kernels(2, 2 + i),
					  &info),
		      "update");
		check(cudaGraphLaunch(executable, stream), "launch");
	}
	check(cudaStreamSynchronize(stream), "wait");
	kernels += 2 * times;
}

static void child(int times)
{
	cudaGraph_t graph = with_kernels(2, 1);
	cudaGraphNode_t node;

	check(cudaGraphAddChildGraphNode(&node, graph, NULL, 0,
					 with_kernels(2, 3)),
	      "child");
	launch(instantiate(graph), times);
	kernels += 4 * times;
}

static void inside(int times)
{
	cudaGraph_t graph = with_kernels(1, 1);
	cudaGraphNode_t node;
	char *data;

	check(cudaMalloc((void **)&data, 2 * BYTES), "memory");
	check(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, data,
				       data + BYTES, BYTES,
				       cudaMemcpyDeviceToDevice),
	      "copy node");
	launch(instantiate(graph), times);
	kernels += times;
	copies += times;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(int times);
	} parts[] = {{"off", off},	   {"empty", empty},
		     {"fills", of_fills},  {"captured", captured},
		     {"updated", updated}, {"child", child},
		     {"inside", inside}};

	if (argc != 3)
		return 2;
	check(cudaStreamCreate(&stream), "stream");
	plain_kernel<<<1, 1, 0, stream>>>();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(argv[1], parts[i].word))
			parts[i].run(atoi(argv[2]));
	check(cudaDeviceSynchronize(), "the end");
	printf("kernel %d gpu_memset %d gpu_memcpy %d\n", kernels, fills,
	       copies);
	return 0;
}
