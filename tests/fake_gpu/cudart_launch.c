/* SPDX-License-Identifier: MIT */
/*
 * cudart_launch.c - libcudart.so.13: what nvcc's code calls by itself, and
 * kernel launches.
 *
 * "kernel<<<...>>>()" is __cudaPushCallConfiguration(), then the kernel's host
 * function, which asks __cudaGetKernel() once, pops the configuration and
 * calls __cudaLaunchKernel().
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_kernel.h"
#include "tests/fake_gpu/sim_work.h"
#include <stdlib.h>

enum { CONFIGURATION_DEPTH = 8 };

struct configuration {
	dim3 grid, block;
	size_t shared;
	struct CUstream_st *stream;
};

/* CUPTI's headers have no parameters of __cudaLaunchKernel(). */
struct launch_params {
	cudaKernel_t kernel;
	dim3 grid, block;
	void **arguments;
	size_t shared;
	cudaStream_t stream;
};

static __thread struct configuration pushed[CONFIGURATION_DEPTH];
static __thread int depth;

/* Prototypes that only nvcc's own headers have. */
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device,
			    const char *name, int thread_limit, uint3 *thread,
			    uint3 *block, dim3 *block_size, dim3 *grid_size,
			    int *warp);
void __cudaRegisterVar(void **handle, char *host, char *address,
		       const char *name, int external, size_t size,
		       int constant, int global);
char __cudaInitModule(void **handle);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					 struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
				       void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
			       void **arguments, size_t shared,
			       cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
				    void **arguments, size_t shared,
				    cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block,
				  void **arguments, size_t shared,
				  cudaStream_t stream);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config,
				     const void *function, void **arguments);

void **__cudaRegisterFatBinary(void *binary)
{
	void **handle = malloc(sizeof(*handle));

	*handle = binary;
	return handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	kernel_forget(handle);
	free(handle);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device,
			    const char *name, int thread_limit, uint3 *thread,
			    uint3 *block, dim3 *block_size, dim3 *grid_size,
			    int *warp)
{
	(void)device, (void)thread_limit, (void)thread, (void)block;
	(void)block_size, (void)grid_size, (void)warp;
	kernel_register(handle, host, name);
}

void __cudaRegisterVar(void **handle, char *host, char *address,
		       const char *name, int external, size_t size,
		       int constant, int global)
{
	(void)handle, (void)host, (void)address, (void)name;
	(void)external, (void)size, (void)constant, (void)global;
}

char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					 struct CUstream_st *stream)
{
	if (depth == CONFIGURATION_DEPTH)
		return cudaErrorInvalidConfiguration;
	pushed[depth++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
				       void *stream)
{
	if (!depth)
		return cudaErrorMissingConfiguration;
	depth--;
	*grid = pushed[depth].grid;
	*block = pushed[depth].block;
	*shared = pushed[depth].shared;
	*(struct CUstream_st **)stream = pushed[depth].stream;
	return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
	*kernel = (cudaKernel_t)kernel_of_host(host);
	return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

static cudaError_t launch(struct sim_call *call, struct sim_kernel *kernel,
			  dim3 grid, dim3 block, size_t shared,
			  struct sim_stream *stream)
{
	const unsigned int grids[3] = {grid.x, grid.y, grid.z};
	const unsigned int blocks[3] = {block.x, block.y, block.z};

	call->symbol = kernel ? kernel->name : NULL;
	if (sim_call_begin(call))
		call->result = kernel ? work_launch(stream, kernel, grids,
						    blocks, shared)
				      : (int)cudaErrorInvalidDeviceFunction;
	return cudart_end(call);
}

static struct sim_kernel *kernel_of(cudaKernel_t handle)
{
	return kernel_valid(handle) ? (struct sim_kernel *)handle : NULL;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
			       void **arguments, size_t shared,
			       cudaStream_t stream)
{
	struct launch_params params = {kernel,	  grid,	  block,
				       arguments, shared, stream};
	struct sim_call call = RUNTIME_CALL(__cudaLaunchKernel_v13000, &params);

	return launch(&call, kernel_of(kernel), grid, block, shared,
		      stream_of(stream));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
				    void **arguments, size_t shared,
				    cudaStream_t stream)
{
	struct launch_params params = {kernel,	  grid,	  block,
				       arguments, shared, stream};
	struct sim_call call =
		RUNTIME_CALL(__cudaLaunchKernel_ptsz_v13000, &params);

	return launch(&call, kernel_of(kernel), grid, block, shared,
		      stream_or_own(stream));
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
			     void **arguments, size_t shared,
			     cudaStream_t stream)
{
	cudaLaunchKernel_v7000_params params = {function,  grid,   block,
						arguments, shared, stream};
	struct sim_call call = RUNTIME_CALL(cudaLaunchKernel_v7000, &params);

	return launch(&call, kernel_of_host(function), grid, block, shared,
		      stream_of(stream));
}

cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block,
				  void **arguments, size_t shared,
				  cudaStream_t stream)
{
	cudaLaunchKernel_v7000_params params = {function,  grid,   block,
						arguments, shared, stream};
	struct sim_call call =
		RUNTIME_CALL(cudaLaunchKernel_ptsz_v7000, &params);

	return launch(&call, kernel_of_host(function), grid, block, shared,
		      stream_or_own(stream));
}

static void take_attributes(const cudaLaunchConfig_t *config)
{
	for (unsigned int i = 0; i < config->numAttrs; i++) {
		const cudaLaunchAttribute *attribute = &config->attrs[i];

		if (attribute->id == cudaLaunchAttributeClusterDimension) {
			work_shape.cluster[0] = attribute->val.clusterDim.x;
			work_shape.cluster[1] = attribute->val.clusterDim.y;
			work_shape.cluster[2] = attribute->val.clusterDim.z;
		} else if (attribute->id == cudaLaunchAttributeCooperative) {
			work_shape.cooperative = attribute->val.cooperative;
		}
	}
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
				const void *function, void **arguments)
{
	cudaLaunchKernelExC_v11060_params params = {config, function,
						    arguments};
	struct sim_call call =
		RUNTIME_CALL(cudaLaunchKernelExC_v11060, &params);

	take_attributes(config);
	return launch(&call, kernel_of_host(function), config->gridDim,
		      config->blockDim, config->dynamicSmemBytes,
		      stream_of(config->stream));
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config,
				     const void *function, void **arguments)
{
	cudaLaunchKernelExC_ptsz_v11060_params params = {config, function,
							 arguments};
	struct sim_call call =
		RUNTIME_CALL(cudaLaunchKernelExC_ptsz_v11060, &params);

	take_attributes(config);
	return launch(&call, kernel_of_host(function), config->gridDim,
		      config->blockDim, config->dynamicSmemBytes,
		      stream_or_own(config->stream));
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid,
					dim3 block, void **arguments,
					size_t shared, cudaStream_t stream)
{
	cudaLaunchCooperativeKernel_v9000_params params = {
		function, grid, block, arguments, shared, stream};
	struct sim_call call =
		RUNTIME_CALL(cudaLaunchCooperativeKernel_v9000, &params);

	work_shape.cooperative = 1;
	return launch(&call, kernel_of_host(function), grid, block, shared,
		      stream_of(stream));
}

/* On this thread, once the stream has come so far. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
			       void *argument)
{
	cudaLaunchHostFunc_v10000_params params = {stream, function, argument};
	struct sim_call call = RUNTIME_CALL(cudaLaunchHostFunc_v10000, &params);
	struct sim_stream *s = stream_of(stream);
	const struct sim_work work = {.kind = WORK_HOST,
				      .function = function,
				      .argument = argument,
				      .asynchronous = 1};

	if (sim_call_begin(&call)) {
		call.result = s ? work_put(s, &work)
				: (int)cudaErrorInvalidResourceHandle;
	}
	return cudart_end(&call);
}

cudaError_t cudaFuncSetAttribute(const void *function,
				 enum cudaFuncAttribute attribute, int value)
{
	cudaFuncSetAttribute_v9000_params params = {function, attribute, value};
	struct sim_call call =
		RUNTIME_CALL(cudaFuncSetAttribute_v9000, &params);

	if (sim_call_begin(&call) && !kernel_of_host(function))
		call.result = cudaErrorInvalidDeviceFunction;
	return cudart_end(&call);
}
