// SPDX-License-Identifier: MIT
// OpenMP threads, each with a stream of its own: host work, then its kernel, then
// a wait for it; a barrier ends the step.
#include <cstdio>

#include <cuda_runtime.h>
#include <omp.h>

enum { THREADS = 8, STEPS = 60, FLOATS = 1 << 16 };

__global__ void add(float *data, float value)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

int main()
{
	static float *data[THREADS];
	static cudaStream_t streams[THREADS];
	float first = 0;

	for (int i = 0; i < THREADS; i++) {
		cudaStreamCreate(&streams[i]);
		cudaMalloc(&data[i], FLOATS * sizeof(float));
		cudaMemset(data[i], 0, FLOATS * sizeof(float));
	}
	for (int step = 0; step < STEPS; step++) {
#pragma omp parallel num_threads(THREADS)
		{
			int me = omp_get_thread_num();
			volatile double work = 0;

			for (int i = 0; i < 20000 * (1 + me % 2); i++)
				work = work + i;
			add<<<FLOATS / 256, 256, 0, streams[me]>>>(data[me], 1);
			cudaStreamSynchronize(streams[me]);
		}
	}
	cudaMemcpy(&first, data[0], sizeof first, cudaMemcpyDeviceToHost);
	printf("first %.0f\nsteps %d\n", first, STEPS);
	return cudaGetLastError() != cudaSuccess;
}
