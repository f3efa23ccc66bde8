// SPDX-License-Identifier: MIT
// A CUDA graph with a loop of its own: its body runs seven times in each launch,
// as XLA's loops do.
#include <cstdio>

#include <cuda_runtime.h>

enum { LAUNCHES = 40, TURNS = 7, FLOATS = 1 << 12 };

__global__ void begin(int *left)
{
	*left = TURNS;
}

__global__ void body(float *data, int *left, cudaGraphConditionalHandle again)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] += 1;
	if (i == 0)
		cudaGraphSetConditional(again, --*left > 0);
}

int main()
{
	cudaGraphConditionalHandle again;
	cudaGraphNodeParams loop = {};
	cudaGraphNode_t first, inner, outer;
	cudaGraphExec_t ready;
	cudaStream_t stream;
	cudaGraph_t graph;
	float *data, seen;
	int *left;

	cudaStreamCreate(&stream);
	cudaMalloc(&data, FLOATS * sizeof *data);
	cudaMemset(data, 0, FLOATS * sizeof *data);
	cudaMalloc(&left, sizeof *left);
	cudaGraphCreate(&graph, 0);
	cudaGraphConditionalHandleCreate(&again, graph, 1,
					 cudaGraphCondAssignDefault);

	void *begins[] = {&left};
	cudaGraphNodeParams node = {};
	node.type = cudaGraphNodeTypeKernel;
	node.kernel.func = (void *)begin;
	node.kernel.gridDim = node.kernel.blockDim = dim3(1);
	node.kernel.kernelParams = begins;
	cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &node);

	loop.type = cudaGraphNodeTypeConditional;
	loop.conditional.handle = again;
	loop.conditional.type = cudaGraphCondTypeWhile;
	loop.conditional.size = 1;
	cudaGraphAddNode(&outer, graph, &first, nullptr, 1, &loop);

	void *bodies[] = {&data, &left, &again};
	node.kernel.func = (void *)body;
	node.kernel.gridDim = dim3(FLOATS / 256);
	node.kernel.blockDim = dim3(256);
	node.kernel.kernelParams = bodies;
	cudaGraphAddNode(&inner, loop.conditional.phGraph_out[0], nullptr, nullptr,
			 0, &node);
	cudaGraphInstantiate(&ready, graph, 0);
	for (int i = 0; i < LAUNCHES; i++) {
		cudaGraphLaunch(ready, stream);
		cudaStreamSynchronize(stream);
	}
	cudaMemcpy(&seen, data, sizeof seen, cudaMemcpyDeviceToHost);
	printf("turns %.0f, %s\nsteps %d\n", seen, cudaGetErrorName(cudaGetLastError()),
	       LAUNCHES);
	return 0;
}
