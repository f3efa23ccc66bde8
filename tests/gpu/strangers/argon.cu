// SPDX-License-Identifier: MIT
// Molecular dynamics: half a kick and a drift, forces from lists of neighbours that
// are made anew each 10th step, half a kick; energies each 50th.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

enum { ATOMS = 4096, NEAR = 96, STEPS = 600 };
static const float SIDE = 17.0f, CUT = 2.5f, SKIN = 0.3f, DT = 0.002f;

__device__ float apart(float a, float b, float side)
{
	float d = a - b;

	return d - side * rintf(d / side);
}

__global__ void kick_and_drift(float4 *x, float4 *v, const float4 *f, float dt)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	v[i].x += f[i].x * dt / 2, v[i].y += f[i].y * dt / 2, v[i].z += f[i].z * dt / 2;
	x[i].x += v[i].x * dt, x[i].y += v[i].y * dt, x[i].z += v[i].z * dt;
}

__global__ void kick(float4 *v, const float4 *f, float dt)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	v[i].x += f[i].x * dt / 2, v[i].y += f[i].y * dt / 2, v[i].z += f[i].z * dt / 2;
}

__global__ void neighbours(const float4 *x, int *lists, int *counts, float side,
			   float reach)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;

	for (int j = 0; j < ATOMS && count < NEAR; j++) {
		float dx = apart(x[i].x, x[j].x, side), dy = apart(x[i].y, x[j].y, side),
		      dz = apart(x[i].z, x[j].z, side);

		if (j != i && dx * dx + dy * dy + dz * dz < reach * reach)
			lists[count++ * ATOMS + i] = j;
	}
	counts[i] = count;
}

__global__ void forces(const float4 *x, float4 *f, const int *lists, const int *counts,
		       float side, float cut)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float4 sum = {0, 0, 0, 0};

	for (int k = 0; k < counts[i]; k++) {
		int j = lists[k * ATOMS + i];
		float dx = apart(x[i].x, x[j].x, side), dy = apart(x[i].y, x[j].y, side),
		      dz = apart(x[i].z, x[j].z, side);
		float rr = dx * dx + dy * dy + dz * dz;

		if (rr > cut * cut)
			continue;
		float r2 = 1 / rr, r6 = r2 * r2 * r2, size = 24 * r6 * (2 * r6 - 1) * r2;
		sum.x += size * dx, sum.y += size * dy, sum.z += size * dz;
		sum.w += 2 * r6 * (r6 - 1);
	}
	f[i] = sum;
}

__global__ void energy(const float4 *v, const float4 *f, double *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(sum, f[i].w + 0.5 * (v[i].x * v[i].x + v[i].y * v[i].y +
				       v[i].z * v[i].z));
}

int main()
{
	static float4 start[ATOMS], speed[ATOMS];
	float4 *x, *v, *f;
	int *lists, *counts;
	double *sum, seen;

	for (int i = 0; i < ATOMS; i++) {
		start[i] = {i % 16 * SIDE / 16, i / 16 % 16 * SIDE / 16,
			    i / 256 * SIDE / 16, 0};
		speed[i] = {rand() % 100 / 100.0f - 0.5f, rand() % 100 / 100.0f - 0.5f,
			    rand() % 100 / 100.0f - 0.5f, 0};
	}
	for (float4 **one : {&x, &v, &f})
		cudaMalloc(one, sizeof start);
	cudaMalloc(&lists, NEAR * ATOMS * sizeof *lists);
	cudaMalloc(&counts, ATOMS * sizeof *counts);
	cudaMalloc(&sum, sizeof *sum);
	cudaMemcpy(x, start, sizeof start, cudaMemcpyHostToDevice);
	cudaMemcpy(v, speed, sizeof speed, cudaMemcpyHostToDevice);
	cudaMemset(f, 0, sizeof start);
	for (int step = 0; step < STEPS; step++) {
		kick_and_drift<<<ATOMS / 128, 128>>>(x, v, f, DT);
		if (step % 10 == 0)
			neighbours<<<ATOMS / 128, 128>>>(x, lists, counts, SIDE,
							 CUT + SKIN);
		forces<<<ATOMS / 128, 128>>>(x, f, lists, counts, SIDE, CUT);
		kick<<<ATOMS / 128, 128>>>(v, f, DT);
		if (step % 50 == 0) {
			cudaMemset(sum, 0, sizeof *sum);
			energy<<<ATOMS / 128, 128>>>(v, f, sum);
			cudaMemcpy(&seen, sum, sizeof seen, cudaMemcpyDeviceToHost);
			printf("step %d: %.0f\n", step, seen / ATOMS);
		}
	}
	printf("steps %d\n", STEPS);
	return 0;
}
