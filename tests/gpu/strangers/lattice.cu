// SPDX-License-Identifier: MIT
// A lattice Boltzmann flow: collide, stream, walls; the fastest cell every 100 steps.
#include <cstdio>
#include <utility>

#include <cuda_runtime.h>

enum { SIDE = 256, CELLS = SIDE * SIDE, WAYS = 9, STEPS = 1500 };

__constant__ int go_x[WAYS] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int go_y[WAYS] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[WAYS] = {4 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f,
				   1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};

__global__ void begin(float *f)
{
	int cell = blockIdx.x * blockDim.x + threadIdx.x;

	for (int way = 0; way < WAYS; way++)
		f[way * CELLS + cell] = weight[way];
}

__global__ void collide(float *f)
{
	int cell = blockIdx.x * blockDim.x + threadIdx.x;
	float density = 0, x = 0, y = 0;

	for (int way = 0; way < WAYS; way++) {
		float one = f[way * CELLS + cell];

		density += one;
		x += one * go_x[way];
		y += one * go_y[way];
	}
	x = x / density + 1e-5f;
	y /= density;
	for (int way = 0; way < WAYS; way++) {
		float along = 3 * (go_x[way] * x + go_y[way] * y);
		float rest = weight[way] * density *
			     (1 + along + along * along / 2 - 1.5f * (x * x + y * y));

		f[way * CELLS + cell] += (rest - f[way * CELLS + cell]) / 0.8f;
	}
}

__global__ void stream(const float *from, float *to)
{
	int cell = blockIdx.x * blockDim.x + threadIdx.x;
	int row = cell / SIDE, column = cell % SIDE;

	for (int way = 0; way < WAYS; way++)
		to[way * CELLS + (row + go_y[way] + SIDE) % SIDE * SIDE +
		   (column + go_x[way] + SIDE) % SIDE] = from[way * CELLS + cell];
}

__global__ void walls(float *f)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x;

	for (int cell : {column, CELLS - SIDE + column})
		for (int way = 1; way <= 3; way += 2) {
			float one = f[way * CELLS + cell];

			f[way * CELLS + cell] = f[(way + 1) * CELLS + cell];
			f[(way + 1) * CELLS + cell] = one;
		}
}

__global__ void fastest(const float *f, int *most)
{
	int cell = blockIdx.x * blockDim.x + threadIdx.x;
	float x = f[CELLS + cell] - f[3 * CELLS + cell];

	atomicMax(most, (int)(x * 1e6f));
}

int main()
{
	float *f, *next;
	int *most, seen;

	cudaMalloc(&f, WAYS * CELLS * sizeof *f);
	cudaMalloc(&next, WAYS * CELLS * sizeof *f);
	cudaMalloc(&most, sizeof *most);
	begin<<<CELLS / 256, 256>>>(f);
	for (int step = 0; step < STEPS; step++) {
		collide<<<CELLS / 256, 256>>>(f);
		stream<<<CELLS / 256, 256>>>(f, next);
		walls<<<1, SIDE>>>(next);
		std::swap(f, next);
		if (step % 100 == 99) {
			cudaMemset(most, 0, sizeof *most);
			fastest<<<CELLS / 256, 256>>>(f, most);
			cudaMemcpy(&seen, most, sizeof seen, cudaMemcpyDeviceToHost);
			printf("step %d: %d\n", step + 1, seen / 10);
		}
	}
	printf("steps %d\n", STEPS);
	return 0;
}
