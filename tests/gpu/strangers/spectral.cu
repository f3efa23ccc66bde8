// SPDX-License-Identifier: MIT
// A spectral solver: cuFFT there and back and a kernel between, in each time step;
// a slice is copied back every tenth.
#include <cstdio>

#include <cuda_runtime.h>
#include <cufft.h>

enum { SIDE = 512, STEPS = 100 };

__global__ void damp(cufftComplex *field)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float wave = i % SIDE + i / SIDE;
	float factor = 1.0f / (1 + 1e-4f * wave) / (SIDE * SIDE);

	field[i].x *= factor;
	field[i].y *= factor;
}

int main()
{
	static cufftComplex slice[SIDE];
	cufftComplex *field;
	cufftHandle plan;
	double sum = 0;

	cudaMalloc(&field, SIDE * SIDE * sizeof *field);
	cudaMemset(field, 0, SIDE * SIDE * sizeof *field);
	for (int i = 0; i < SIDE; i++)
		slice[i].x = i % 5;
	cudaMemcpy(field, slice, sizeof slice, cudaMemcpyHostToDevice);
	cufftPlan2d(&plan, SIDE, SIDE, CUFFT_C2C);
	for (int step = 0; step < STEPS; step++) {
		cufftExecC2C(plan, field, field, CUFFT_FORWARD);
		damp<<<SIDE * SIDE / 256, 256>>>(field);
		cufftExecC2C(plan, field, field, CUFFT_INVERSE);
		if (step % 10 == 9) {
			cudaMemcpy(slice, field, sizeof slice,
				   cudaMemcpyDeviceToHost);
			sum += slice[0].x;
		}
	}
	printf("sum %.4f\nsteps %d\n", sum, STEPS);
	return cudaGetLastError() != cudaSuccess;
}
