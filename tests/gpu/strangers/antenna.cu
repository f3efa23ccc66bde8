// SPDX-License-Identifier: MIT
// FDTD on two streams: electric and magnetic fields, a source, edges; each 40th step
// a slice is copied to the host while the next step goes on.
#include <cmath>
#include <cstdio>

#include <cuda_runtime.h>

enum { SIDE = 96, CELLS = SIDE * SIDE * SIDE, STEPS = 800 };

__global__ void electric(float *e, const float *h)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= SIDE * SIDE)
		e[i] += 0.4f * (h[i] - h[i - 1] - h[i] + h[i - SIDE] + h[i - SIDE * SIDE] - h[i]);
}

__global__ void magnetic(float *h, const float *e)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < CELLS - SIDE * SIDE)
		h[i] += 0.4f * (e[i + 1] - e[i] + e[i] - e[i + SIDE] + e[i + SIDE * SIDE] - e[i]);
}

__global__ void source(float *e, float value)
{
	e[CELLS / 2 + SIDE / 2] += value;
}

__global__ void edges(float *e)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	e[i] = 0;
	e[CELLS - SIDE * SIDE + i] = 0;
}

int main()
{
	float *e, *h, *slice;
	cudaStream_t work, copies;
	cudaEvent_t done;
	int pictures = 0;

	cudaStreamCreate(&work);
	cudaStreamCreate(&copies);
	cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
	cudaMalloc(&e, CELLS * sizeof *e);
	cudaMalloc(&h, CELLS * sizeof *h);
	cudaMallocHost(&slice, SIDE * SIDE * sizeof *slice);
	cudaMemsetAsync(e, 0, CELLS * sizeof *e, work);
	cudaMemsetAsync(h, 0, CELLS * sizeof *h, work);
	for (int step = 0; step < STEPS; step++) {
		electric<<<CELLS / 256, 256, 0, work>>>(e, h);
		source<<<1, 1, 0, work>>>(e, sinf(step * 0.1f));
		edges<<<SIDE * SIDE / 256, 256, 0, work>>>(e);
		magnetic<<<CELLS / 256, 256, 0, work>>>(h, e);
		if (step % 40 == 39) {
			cudaEventRecord(done, work);
			cudaStreamWaitEvent(copies, done, 0);
			cudaMemcpyAsync(slice, e + CELLS / 2, SIDE * SIDE * sizeof *e,
					cudaMemcpyDeviceToHost, copies);
			pictures++;
		}
	}
	cudaDeviceSynchronize();
	printf("%d pictures\n", pictures);
	printf("steps %d\n", STEPS);
	return 0;
}
