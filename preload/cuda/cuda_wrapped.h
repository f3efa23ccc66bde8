/* SPDX-License-Identifier: MIT */
/*
 * cuda_wrapped.h - the functions of a shared CUDA runtime that we stand in
 * front of.
 *
 * A row is X(name, parameters); each returns an error code, 0 for none.  The
 * types are our own spellings of CUDA's, which this must build without: opaque
 * handles are pointers, enumerations int.  `_ptsz` and `_ptds` are what a
 * program calls that was compiled for a default stream for each thread.
 */
#ifndef PRELOAD_CUDA_WRAPPED_H
#define PRELOAD_CUDA_WRAPPED_H

#include <stddef.h>

struct cuda_size3 {
	unsigned int x, y, z;
};

/* clang-format off */
#define CUDA_LAUNCH	(const void *kernel, struct cuda_size3 grid,	\
			 struct cuda_size3 block, void **args, size_t shared, \
			 void *stream)
#define CUDA_COPY	(void *to, const void *from, size_t bytes, int kind)
#define CUDA_COPY_ASYNC	(void *to, const void *from, size_t bytes, int kind, \
			 void *stream)
#define CUDA_FILL_ASYNC	(void *to, int value, size_t bytes, void *stream)

#define CUDA_WRAPPED_FUNCTIONS(X)					\
	X(cudaLaunchKernel,           CUDA_LAUNCH)			\
	X(cudaLaunchKernel_ptsz,      CUDA_LAUNCH)			\
	X(__cudaLaunchKernel,         CUDA_LAUNCH)			\
	X(__cudaLaunchKernel_ptsz,    CUDA_LAUNCH)			\
	X(cudaLaunchCooperativeKernel, CUDA_LAUNCH)			\
	X(cudaLaunchKernelExC,        (const void *config,		\
				       const void *kernel, void **args)) \
	X(cudaLaunchKernelExC_ptsz,   (const void *config,		\
				       const void *kernel, void **args)) \
	X(cudaGraphLaunch,            (void *graph, void *stream))	\
	X(cudaGraphLaunch_ptsz,       (void *graph, void *stream))	\
	X(cudaMemcpy,                 CUDA_COPY)			\
	X(cudaMemcpy_ptds,            CUDA_COPY)			\
	X(cudaMemcpyAsync,            CUDA_COPY_ASYNC)			\
	X(cudaMemcpyAsync_ptsz,       CUDA_COPY_ASYNC)			\
	X(cudaMemset,                 (void *to, int value, size_t bytes)) \
	X(cudaMemsetAsync,            CUDA_FILL_ASYNC)			\
	X(cudaMemsetAsync_ptsz,       CUDA_FILL_ASYNC)			\
	X(cudaMalloc,                 (void **ptr, size_t bytes))	\
	X(cudaMallocHost,             (void **ptr, size_t bytes))	\
	X(cudaHostAlloc,              (void **ptr, size_t bytes,	\
				       unsigned int flags))		\
	X(cudaMallocManaged,          (void **ptr, size_t bytes,	\
				       unsigned int flags))		\
	X(cudaMallocAsync,            (void **ptr, size_t bytes,	\
				       void *stream))			\
	X(cudaFree,                   (void *ptr))			\
	X(cudaFreeHost,               (void *ptr))			\
	X(cudaFreeAsync,              (void *ptr, void *stream))	\
	X(cudaDeviceSynchronize,      (void))				\
	X(cudaStreamCreate,           (void **stream))			\
	X(cudaStreamCreateWithFlags,  (void **stream, unsigned int flags)) \
	X(cudaStreamDestroy,          (void *stream))			\
	X(cudaStreamSynchronize,      (void *stream))			\
	X(cudaStreamSynchronize_ptsz, (void *stream))			\
	X(cudaStreamWaitEvent,        (void *stream, void *event,	\
				       unsigned int flags))		\
	X(cudaEventRecord,            (void *event, void *stream))	\
	X(cudaEventRecord_ptsz,       (void *event, void *stream))	\
	X(cudaEventSynchronize,       (void *event))
/* clang-format on */

enum cuda_function {
#define X(name, parameters) CUDA_AT_##name,
	CUDA_WRAPPED_FUNCTIONS(X)
#undef X
		CUDA_FUNCTION_COUNT
};

struct cuda_functions {
#define X(name, parameters) int(*name) parameters;
	CUDA_WRAPPED_FUNCTIONS(X)
#undef X
};

#endif
