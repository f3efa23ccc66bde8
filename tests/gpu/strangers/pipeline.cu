// SPDX-License-Identifier: MIT
// Four streams take turns with pieces of pinned memory, events order them, and a
// host function counts; nothing waits until a round has been handed over.
#include <atomic>
#include <cstdio>

#include <cuda_runtime.h>

enum { STREAMS = 4, ROUNDS = 50, FLOATS = 1 << 18 };

static std::atomic<int> done;

__global__ void square(float *data)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] = data[i] * data[i] + 1;
}

__global__ void reduce(const float *data, float *sum)
{
	float part = 0;

	for (int i = threadIdx.x; i < FLOATS; i += blockDim.x)
		part += data[i] / FLOATS;
	atomicAdd(sum, part);
}

static void count(void *)
{
	done++;
}

int main()
{
	cudaStream_t streams[STREAMS];
	cudaEvent_t ready[STREAMS];
	float *host[STREAMS], *device[STREAMS], *sum, total = 0;

	cudaMalloc(&sum, sizeof *sum);
	cudaMemset(sum, 0, sizeof *sum);
	for (int i = 0; i < STREAMS; i++) {
		cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
		cudaEventCreateWithFlags(&ready[i], cudaEventDisableTiming);
		cudaMallocHost(&host[i], FLOATS * sizeof(float));
		cudaMalloc(&device[i], FLOATS * sizeof(float));
		for (int j = 0; j < FLOATS; j++)
			host[i][j] = j % 7 / 7.0f;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < STREAMS; i++) {
			cudaMemcpyAsync(device[i], host[i], FLOATS * sizeof(float),
					cudaMemcpyHostToDevice, streams[i]);
			square<<<FLOATS / 256, 256, 0, streams[i]>>>(device[i]);
			cudaEventRecord(ready[i], streams[i]);
			cudaStreamWaitEvent(streams[0], ready[i], 0);
			cudaLaunchHostFunc(streams[i], count, nullptr);
		}
		reduce<<<1, 256, 0, streams[0]>>>(device[round % STREAMS], sum);
		cudaMemcpyAsync(&total, sum, sizeof total, cudaMemcpyDeviceToHost,
				streams[0]);
		cudaStreamSynchronize(streams[0]);
	}
	cudaDeviceSynchronize();
	printf("done %d\nsteps %d\n", done.load(), ROUNDS);
	return cudaGetLastError() != cudaSuccess;
}
