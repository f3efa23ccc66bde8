// SPDX-License-Identifier: MIT
// Bodies attract each other: two half steps and the forces between, a snapshot is
// copied back by another stream each tenth step.
#include <cstdio>

#include <cuda_runtime.h>

enum { BODIES = 4096, STEPS = 120 };

__global__ void forces(const float4 *at, float4 *force)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 0, y = 0, z = 0;

	for (int j = 0; j < BODIES; j++) {
		float dx = at[j].x - at[i].x, dy = at[j].y - at[i].y;
		float dz = at[j].z - at[i].z;
		float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);

		x += dx * r * r * r;
		y += dy * r * r * r;
		z += dz * r * r * r;
	}
	force[i] = make_float4(x, y, z, 0);
}

__global__ void kick(float4 *speed, const float4 *force)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	speed[i].x += force[i].x * 5e-6f;
	speed[i].y += force[i].y * 5e-6f;
	speed[i].z += force[i].z * 5e-6f;
}

__global__ void drift(float4 *at, const float4 *speed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	at[i].x += speed[i].x * 1e-3f;
	at[i].y += speed[i].y * 1e-3f;
	at[i].z += speed[i].z * 1e-3f;
}

int main()
{
	static float4 host[BODIES];
	float4 *at, *speed, *force;
	cudaStream_t work, copies;
	cudaEvent_t done;

	for (int i = 0; i < BODIES; i++)
		host[i] = make_float4(i % 16, i / 16 % 16, i / 256, 0);
	cudaStreamCreate(&work);
	cudaStreamCreate(&copies);
	cudaEventCreate(&done);
	cudaMalloc(&at, sizeof host);
	cudaMalloc(&speed, sizeof host);
	cudaMalloc(&force, sizeof host);
	cudaMemset(speed, 0, sizeof host);
	cudaMemcpy(at, host, sizeof host, cudaMemcpyHostToDevice);
	for (int step = 0; step < STEPS; step++) {
		forces<<<BODIES / 128, 128, 0, work>>>(at, force);
		kick<<<BODIES / 128, 128, 0, work>>>(speed, force);
		drift<<<BODIES / 128, 128, 0, work>>>(at, speed);
		kick<<<BODIES / 128, 128, 0, work>>>(speed, force);
		if (step % 10 == 9) {
			cudaEventRecord(done, work);
			cudaStreamWaitEvent(copies, done, 0);
			cudaMemcpyAsync(host, at, sizeof host,
					cudaMemcpyDeviceToHost, copies);
		}
	}
	cudaDeviceSynchronize();
	printf("x %.4f\nsteps %d\n", host[0].x, STEPS);
	return cudaGetLastError() != cudaSuccess;
}
