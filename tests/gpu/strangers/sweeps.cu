// SPDX-License-Identifier: MIT
// Jacobi's sweeps, ten of them and the residual's norm as one captured graph, which
// is launched until the host has seen a small one.
#include <cstdio>

#include <cuda_runtime.h>

enum { SIDE = 512, CELLS = SIDE * SIDE, SWEEPS = 10, LAUNCHES = 150 };

__global__ void sweep(const float *from, float *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int row = i / SIDE, column = i % SIDE;

	if (row == 0 || column == 0 || row == SIDE - 1 || column == SIDE - 1)
		to[i] = row == 0;
	else
		to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - SIDE] +
				 from[i + SIDE]);
}

__global__ void norm(const float *a, const float *b, float *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(sum, (a[i] - b[i]) * (a[i] - b[i]));
}

int main()
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t ready;
	float *a, *b, *sum, seen = 1;

	cudaStreamCreate(&stream);
	cudaMalloc(&a, CELLS * sizeof *a);
	cudaMalloc(&b, CELLS * sizeof *b);
	cudaMalloc(&sum, sizeof *sum);
	cudaMemsetAsync(a, 0, CELLS * sizeof *a, stream);
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	for (int i = 0; i < SWEEPS; i += 2) {
		sweep<<<CELLS / 256, 256, 0, stream>>>(a, b);
		sweep<<<CELLS / 256, 256, 0, stream>>>(b, a);
	}
	cudaMemsetAsync(sum, 0, sizeof *sum, stream);
	norm<<<CELLS / 256, 256, 0, stream>>>(a, b, sum);
	cudaStreamEndCapture(stream, &graph);
	cudaGraphInstantiate(&ready, graph, 0);
	int launches = 0;
	while (launches < LAUNCHES) {
		cudaGraphLaunch(ready, stream);
		cudaMemcpyAsync(&seen, sum, sizeof seen, cudaMemcpyDeviceToHost, stream);
		cudaStreamSynchronize(stream);
		launches++;
	}
	printf("%s\n", seen < 1 ? "small" : "large");
	printf("steps %d\n", launches);
	return 0;
}
