// SPDX-License-Identifier: MIT
// Conjugate gradients on a grid with cuBLAS, whose products are read on the host
// in each iteration; ten solves.
#include <cstdio>

#include <cublas_v2.h>
#include <cuda_runtime.h>

enum { SIDE = 512, CELLS = SIDE * SIDE, SOLVES = 10, ITERATIONS = 30 };

__global__ void laplace(const double *x, double *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int row = i / SIDE, column = i % SIDE;
	double sum = 4 * x[i];

	if (row > 0)
		sum -= x[i - SIDE];
	if (row < SIDE - 1)
		sum -= x[i + SIDE];
	if (column > 0)
		sum -= x[i - 1];
	if (column < SIDE - 1)
		sum -= x[i + 1];
	y[i] = sum;
}

__global__ void fill(double *x, double value)
{
	x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main()
{
	double *x, *r, *p, *q;
	cublasHandle_t blas;

	cublasCreate(&blas);
	for (double **one : {&x, &r, &p, &q})
		cudaMalloc(one, CELLS * sizeof(double));
	for (int solve = 0; solve < SOLVES; solve++) {
		double old_rr, rr, pq;

		fill<<<CELLS / 256, 256>>>(x, 0);
		fill<<<CELLS / 256, 256>>>(r, 1 + solve);
		fill<<<CELLS / 256, 256>>>(p, 1 + solve);
		cublasDdot(blas, CELLS, r, 1, r, 1, &old_rr);
		for (int i = 0; i < ITERATIONS; i++) {
			laplace<<<CELLS / 256, 256>>>(p, q);
			cublasDdot(blas, CELLS, p, 1, q, 1, &pq);
			double alpha = old_rr / pq, minus = -alpha, beta, one = 1;
			cublasDaxpy(blas, CELLS, &alpha, p, 1, x, 1);
			cublasDaxpy(blas, CELLS, &minus, q, 1, r, 1);
			cublasDdot(blas, CELLS, r, 1, r, 1, &rr);
			beta = rr / old_rr;
			cublasDscal(blas, CELLS, &beta, p, 1);
			cublasDaxpy(blas, CELLS, &one, r, 1, p, 1);
			old_rr = rr;
		}
		printf("solve %d: %.3e\n", solve, old_rr);
	}
	printf("steps %d %d\n", SOLVES * ITERATIONS, SOLVES);
	return cudaGetLastError() != cudaSuccess;
}
