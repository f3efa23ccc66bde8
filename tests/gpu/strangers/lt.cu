// SPDX-License-Identifier: MIT
// A network of three layers by cuBLASLt, with its bias and ReLU in the products'
// epilogues; the loss is read every 20 batches.
#include <cstdio>
#include <cstdlib>

#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { BATCH = 256, WIDTH = 512, LAYERS = 3, BATCHES = 240 };

__global__ void fill(__half *data, float scale)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] = __float2half(scale * ((i * 7919 % 1000) / 1000.0f - 0.5f));
}

__global__ void decay(__half *weights)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	weights[i] = __hmul(weights[i], __float2half(0.999f));
}

__global__ void total(const __half *data, float *sum)
{
	atomicAdd(sum, __half2float(data[blockIdx.x * blockDim.x + threadIdx.x]));
}

static void check(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "lt: %s: %d\n", what, status);
	exit(1);
}

int main()
{
	__half *weights[LAYERS], *values[LAYERS + 1], *bias;
	cublasLtMatrixLayout_t a, b, c;
	cublasLtMatmulDesc_t product;
	cublasLtHandle_t lt;
	float *sum, seen;
	void *space;
	const size_t space_bytes = 4 << 20;

	check(cublasLtCreate(&lt), "cublasLtCreate");
	cudaMalloc(&space, space_bytes);
	cudaMalloc(&sum, sizeof *sum);
	cudaMalloc(&bias, WIDTH * sizeof *bias);
	fill<<<WIDTH / 256, 256>>>(bias, 0.1f);
	for (int i = 0; i < LAYERS; i++) {
		cudaMalloc(&weights[i], WIDTH * WIDTH * sizeof(__half));
		fill<<<WIDTH * WIDTH / 256, 256>>>(weights[i], 0.1f);
	}
	for (int i = 0; i <= LAYERS; i++)
		cudaMalloc(&values[i], WIDTH * BATCH * sizeof(__half));
	check(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
	      "description");
	cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
	cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE,
				       &epilogue, sizeof epilogue);
	cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
				       &bias, sizeof bias);
	cublasLtMatrixLayoutCreate(&a, CUDA_R_16F, WIDTH, WIDTH, WIDTH);
	cublasLtMatrixLayoutCreate(&b, CUDA_R_16F, WIDTH, BATCH, WIDTH);
	cublasLtMatrixLayoutCreate(&c, CUDA_R_16F, WIDTH, BATCH, WIDTH);
	for (int batch = 0; batch < BATCHES; batch++) {
		float one = 1, zero = 0;

		fill<<<WIDTH * BATCH / 256, 256>>>(values[0], 1.0f + batch % 3);
		for (int i = 0; i < LAYERS; i++)
			check(cublasLtMatmul(lt, product, &one, weights[i], a,
					     values[i], b, &zero, values[i + 1],
					     c, values[i + 1], c, nullptr, space,
					     space_bytes, 0),
			      "cublasLtMatmul");
		for (int i = 0; i < LAYERS; i++)
			decay<<<WIDTH * WIDTH / 256, 256>>>(weights[i]);
		if (batch % 20 != 19)
			continue;
		cudaMemset(sum, 0, sizeof *sum);
		total<<<WIDTH * BATCH / 256, 256>>>(values[LAYERS], sum);
		cudaMemcpy(&seen, sum, sizeof seen, cudaMemcpyDeviceToHost);
		printf("batch %d: %.2g\n", batch, seen);
	}
	printf("steps %d\n", BATCHES);
	return 0;
}
