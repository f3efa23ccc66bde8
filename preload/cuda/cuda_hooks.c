/* SPDX-License-Identifier: MIT */
/*
 * cuda_hooks.c - in front of a shared CUDA runtime's functions.
 *
 * Each looks at the gate, calls the real function and describes the call where
 * CUPTI can't; see cuda_calls.h.  A static runtime, which is nvcc's default, is
 * called without us.
 */
#include "preload/cuda/cuda_calls.h"

/* clang-format off */
#define X(name, parameters) EXPORT int name parameters;
CUDA_WRAPPED_FUNCTIONS(X)
#undef X
/* clang-format on */

EXPORT int cudaLaunchKernel(const void *kernel, struct cuda_size3 grid,
			    struct cuda_size3 block, void **args, size_t shared,
			    void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaLaunchKernel);

	return cuda_done(&call,
			 cuda_real.cudaLaunchKernel(kernel, grid, block, args,
						    shared, stream),
			 0);
}

EXPORT int cudaLaunchKernel_ptsz(const void *kernel, struct cuda_size3 grid,
				 struct cuda_size3 block, void **args,
				 size_t shared, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaLaunchKernel_ptsz);

	return cuda_done(&call,
			 cuda_real.cudaLaunchKernel_ptsz(kernel, grid, block,
							 args, shared, stream),
			 0);
}

EXPORT int __cudaLaunchKernel(const void *kernel, struct cuda_size3 grid,
			      struct cuda_size3 block, void **args,
			      size_t shared, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT___cudaLaunchKernel);

	return cuda_done(&call,
			 cuda_real.__cudaLaunchKernel(kernel, grid, block, args,
						      shared, stream),
			 0);
}

EXPORT int __cudaLaunchKernel_ptsz(const void *kernel, struct cuda_size3 grid,
				   struct cuda_size3 block, void **args,
				   size_t shared, void *stream)
{
	const struct cuda_call call =
		cuda_call(CUDA_AT___cudaLaunchKernel_ptsz);

	return cuda_done(&call,
			 cuda_real.__cudaLaunchKernel_ptsz(
				 kernel, grid, block, args, shared, stream),
			 0);
}

EXPORT int cudaLaunchCooperativeKernel(const void *kernel,
				       struct cuda_size3 grid,
				       struct cuda_size3 block, void **args,
				       size_t shared, void *stream)
{
	const struct cuda_call call =
		cuda_call(CUDA_AT_cudaLaunchCooperativeKernel);

	return cuda_done(&call,
			 cuda_real.cudaLaunchCooperativeKernel(
				 kernel, grid, block, args, shared, stream),
			 0);
}

EXPORT int cudaLaunchKernelExC(const void *config, const void *kernel,
			       void **args)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaLaunchKernelExC);

	return cuda_done(
		&call, cuda_real.cudaLaunchKernelExC(config, kernel, args), 0);
}

EXPORT int cudaLaunchKernelExC_ptsz(const void *config, const void *kernel,
				    void **args)
{
	const struct cuda_call call =
		cuda_call(CUDA_AT_cudaLaunchKernelExC_ptsz);

	return cuda_done(
		&call, cuda_real.cudaLaunchKernelExC_ptsz(config, kernel, args),
		0);
}

EXPORT int cudaGraphLaunch(void *graph, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaGraphLaunch);

	return cuda_done(&call, cuda_real.cudaGraphLaunch(graph, stream), 0);
}

EXPORT int cudaGraphLaunch_ptsz(void *graph, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaGraphLaunch_ptsz);

	return cuda_done(&call, cuda_real.cudaGraphLaunch_ptsz(graph, stream),
			 0);
}

EXPORT int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMemcpy);

	return cuda_done(&call, cuda_real.cudaMemcpy(to, from, bytes, kind),
			 bytes);
}

EXPORT int cudaMemcpy_ptds(void *to, const void *from, size_t bytes, int kind)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMemcpy_ptds);

	return cuda_done(
		&call, cuda_real.cudaMemcpy_ptds(to, from, bytes, kind), bytes);
}

EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
			   void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMemcpyAsync);

	return cuda_done(
		&call, cuda_real.cudaMemcpyAsync(to, from, bytes, kind, stream),
		bytes);
}

EXPORT int cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes,
				int kind, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMemcpyAsync_ptsz);

	return cuda_done(
		&call,
		cuda_real.cudaMemcpyAsync_ptsz(to, from, bytes, kind, stream),
		bytes);
}

EXPORT int cudaMemset(void *to, int value, size_t bytes)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMemset);

	return cuda_done(&call, cuda_real.cudaMemset(to, value, bytes), bytes);
}

EXPORT int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMemsetAsync);

	return cuda_done(&call,
			 cuda_real.cudaMemsetAsync(to, value, bytes, stream),
			 bytes);
}

EXPORT int cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMemsetAsync_ptsz);

	return cuda_done(
		&call, cuda_real.cudaMemsetAsync_ptsz(to, value, bytes, stream),
		bytes);
}

EXPORT int cudaMalloc(void **ptr, size_t bytes)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMalloc);

	return cuda_done(&call, cuda_real.cudaMalloc(ptr, bytes), bytes);
}

EXPORT int cudaMallocHost(void **ptr, size_t bytes)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMallocHost);

	return cuda_done(&call, cuda_real.cudaMallocHost(ptr, bytes), bytes);
}

EXPORT int cudaHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaHostAlloc);

	return cuda_done(&call, cuda_real.cudaHostAlloc(ptr, bytes, flags),
			 bytes);
}

EXPORT int cudaMallocManaged(void **ptr, size_t bytes, unsigned int flags)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMallocManaged);

	return cuda_done(&call, cuda_real.cudaMallocManaged(ptr, bytes, flags),
			 bytes);
}

EXPORT int cudaMallocAsync(void **ptr, size_t bytes, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaMallocAsync);

	return cuda_done(&call, cuda_real.cudaMallocAsync(ptr, bytes, stream),
			 bytes);
}

EXPORT int cudaFree(void *ptr)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaFree);

	return cuda_done(&call, cuda_real.cudaFree(ptr), 0);
}

EXPORT int cudaFreeHost(void *ptr)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaFreeHost);

	return cuda_done(&call, cuda_real.cudaFreeHost(ptr), 0);
}

EXPORT int cudaFreeAsync(void *ptr, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaFreeAsync);

	return cuda_done(&call, cuda_real.cudaFreeAsync(ptr, stream), 0);
}

EXPORT int cudaDeviceSynchronize(void)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaDeviceSynchronize);

	return cuda_done(&call, cuda_real.cudaDeviceSynchronize(), 0);
}

EXPORT int cudaStreamCreate(void **stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaStreamCreate);

	return cuda_done(&call, cuda_real.cudaStreamCreate(stream), 0);
}

EXPORT int cudaStreamCreateWithFlags(void **stream, unsigned int flags)
{
	const struct cuda_call call =
		cuda_call(CUDA_AT_cudaStreamCreateWithFlags);

	return cuda_done(&call,
			 cuda_real.cudaStreamCreateWithFlags(stream, flags), 0);
}

EXPORT int cudaStreamDestroy(void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaStreamDestroy);

	return cuda_done(&call, cuda_real.cudaStreamDestroy(stream), 0);
}

EXPORT int cudaStreamSynchronize(void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaStreamSynchronize);

	return cuda_done(&call, cuda_real.cudaStreamSynchronize(stream), 0);
}

EXPORT int cudaStreamSynchronize_ptsz(void *stream)
{
	const struct cuda_call call =
		cuda_call(CUDA_AT_cudaStreamSynchronize_ptsz);

	return cuda_done(&call, cuda_real.cudaStreamSynchronize_ptsz(stream),
			 0);
}

EXPORT int cudaStreamWaitEvent(void *stream, void *event, unsigned int flags)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaStreamWaitEvent);

	return cuda_done(
		&call, cuda_real.cudaStreamWaitEvent(stream, event, flags), 0);
}

EXPORT int cudaEventRecord(void *event, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaEventRecord);

	return cuda_done(&call, cuda_real.cudaEventRecord(event, stream), 0);
}

EXPORT int cudaEventRecord_ptsz(void *event, void *stream)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaEventRecord_ptsz);

	return cuda_done(&call, cuda_real.cudaEventRecord_ptsz(event, stream),
			 0);
}

EXPORT int cudaEventSynchronize(void *event)
{
	const struct cuda_call call = cuda_call(CUDA_AT_cudaEventSynchronize);

	return cuda_done(&call, cuda_real.cudaEventSynchronize(event), 0);
}
