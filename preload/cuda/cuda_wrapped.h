/* SPDX-License-Identifier: MIT */
/*
 * cuda_wrapped.h - the functions of a shared CUDA runtime that we stand in
 * front of.
 *
 * One row makes the hook, the member of struct cuda_functions and its look-up.
 * A row is
 *
 *	X(name, bytes, entry, parameters, arguments)
 *
 * where bytes is what the call moves or allocates, in words of its parameters,
 * and entry the function on the host that stands for a kernel.
 * Each function returns an error code, 0 for none.  The types are our own
 * spellings of CUDA's, which this must build without: opaque handles are
 * pointers, enumerations int, and three numbers of 32 bits in a row are the two
 * registers that they come in.  `_ptsz` and `_ptds` are what a program calls
 * that was compiled for a default stream for each thread.
 */
#ifndef PRELOAD_CUDA_WRAPPED_H
#define PRELOAD_CUDA_WRAPPED_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define CUDA_LAUNCH	(const void *kernel, uint64_t grid_xy, uint64_t grid_z, \
			 uint64_t block_xy, uint64_t block_z, void **args, \
			 size_t shared, void *stream)
#define CUDA_LAUNCHED	(kernel, grid_xy, grid_z, block_xy, block_z, args, \
			 shared, stream)
#define CUDA_COPY	(void *to, const void *from, size_t bytes, int kind)
#define CUDA_COPY_ASYNC	(void *to, const void *from, size_t bytes, int kind, \
			 void *stream)
#define CUDA_FILL_ASYNC	(void *to, int value, size_t bytes, void *stream)

#define CUDA_WRAPPED_FUNCTIONS(X)					\
	X(cudaLaunchKernel, 0, kernel, CUDA_LAUNCH, CUDA_LAUNCHED)	\
	X(cudaLaunchKernel_ptsz, 0, kernel, CUDA_LAUNCH, CUDA_LAUNCHED)	\
	X(__cudaLaunchKernel, 0, kernel, CUDA_LAUNCH, CUDA_LAUNCHED)	\
	X(__cudaLaunchKernel_ptsz, 0, kernel, CUDA_LAUNCH, CUDA_LAUNCHED)	\
	X(cudaLaunchCooperativeKernel, 0, kernel, CUDA_LAUNCH, CUDA_LAUNCHED)	\
	X(cudaLaunchKernelExC, 0, kernel,					\
	  (const void *config, const void *kernel, void **args),	\
	  (config, kernel, args))					\
	X(cudaLaunchKernelExC_ptsz, 0, kernel,					\
	  (const void *config, const void *kernel, void **args),	\
	  (config, kernel, args))					\
	X(cudaGraphLaunch, 0, NULL, (void *graph, void *stream),		\
	  (graph, stream))						\
	X(cudaGraphLaunch_ptsz, 0, NULL, (void *graph, void *stream),		\
	  (graph, stream))						\
	X(cudaMemcpy, bytes, NULL, CUDA_COPY, (to, from, bytes, kind))	\
	X(cudaMemcpy_ptds, bytes, NULL, CUDA_COPY, (to, from, bytes, kind))	\
	X(cudaMemcpyAsync, bytes, NULL, CUDA_COPY_ASYNC,			\
	  (to, from, bytes, kind, stream))				\
	X(cudaMemcpyAsync_ptsz, bytes, NULL, CUDA_COPY_ASYNC,			\
	  (to, from, bytes, kind, stream))				\
	X(cudaMemset, bytes, NULL, (void *to, int value, size_t bytes),	\
	  (to, value, bytes))						\
	X(cudaMemsetAsync, bytes, NULL, CUDA_FILL_ASYNC,			\
	  (to, value, bytes, stream))					\
	X(cudaMemsetAsync_ptsz, bytes, NULL, CUDA_FILL_ASYNC,			\
	  (to, value, bytes, stream))					\
	X(cudaMalloc, bytes, NULL, (void **ptr, size_t bytes), (ptr, bytes))	\
	X(cudaMallocHost, bytes, NULL, (void **ptr, size_t bytes),		\
	  (ptr, bytes))							\
	X(cudaHostAlloc, bytes, NULL,						\
	  (void **ptr, size_t bytes, unsigned int flags),		\
	  (ptr, bytes, flags))						\
	X(cudaMallocManaged, bytes, NULL,					\
	  (void **ptr, size_t bytes, unsigned int flags),		\
	  (ptr, bytes, flags))						\
	X(cudaMallocAsync, bytes, NULL,					\
	  (void **ptr, size_t bytes, void *stream),			\
	  (ptr, bytes, stream))						\
	X(cudaFree, 0, NULL, (void *ptr), (ptr))				\
	X(cudaFreeHost, 0, NULL, (void *ptr), (ptr))				\
	X(cudaFreeAsync, 0, NULL, (void *ptr, void *stream), (ptr, stream))	\
	X(cudaDeviceSynchronize, 0, NULL, (void), ())				\
	X(cudaStreamCreate, 0, NULL, (void **stream), (stream))		\
	X(cudaStreamCreateWithFlags, 0, NULL,					\
	  (void **stream, unsigned int flags), (stream, flags))		\
	X(cudaStreamDestroy, 0, NULL, (void *stream), (stream))		\
	X(cudaStreamSynchronize, 0, NULL, (void *stream), (stream))		\
	X(cudaStreamSynchronize_ptsz, 0, NULL, (void *stream), (stream))	\
	X(cudaStreamWaitEvent, 0, NULL,					\
	  (void *stream, void *event, unsigned int flags),		\
	  (stream, event, flags))					\
	X(cudaEventRecord, 0, NULL, (void *event, void *stream),		\
	  (event, stream))						\
	X(cudaEventRecord_ptsz, 0, NULL, (void *event, void *stream),		\
	  (event, stream))						\
	X(cudaEventSynchronize, 0, NULL, (void *event), (event))
/* clang-format on */

enum cuda_function {
#define X(name, bytes, entry, parameters, arguments) CUDA_AT_##name,
	CUDA_WRAPPED_FUNCTIONS(X)
#undef X
		CUDA_FUNCTION_COUNT
};

struct cuda_functions {
#define X(name, bytes, entry, parameters, arguments) int(*name) parameters;
	CUDA_WRAPPED_FUNCTIONS(X)
#undef X
};

#endif
