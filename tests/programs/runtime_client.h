/* SPDX-License-Identifier: MIT */
/*
 * runtime_client.h - CUDA's runtime by dlopen(): its functions are called as
 * cuda.NAME() or, where an error ends the program, CUDA(NAME, ...).  One kernel
 * is registered by hand, as nvcc's code does it.  No header of CUDA's is
 * needed, so that what uses this builds everywhere.
 */
#ifndef RUNTIME_CLIENT_H
#define RUNTIME_CLIENT_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO_RUNTIME = 77 };

struct size3 {
	unsigned int x, y, z;
};

struct kernel_node {
	void *function;
	struct size3 grid, block;
	unsigned int shared;
	void **arguments, **extra;
};

/*        name                       parameters */
#define RUNTIME_FUNCTIONS(X)                                                   \
	X(__cudaRegisterFatBinary, void **, (void *))                          \
	X(__cudaRegisterFunction, void,                                        \
	  (void **, const void *, void *, const char *, int, void *, void *,   \
	   void *, void *, void *))                                            \
	X(cudaLaunchKernel, int,                                               \
	  (const void *, struct size3, struct size3, void **, size_t, void *)) \
	X(cudaMemcpyAsync, int, (void *, const void *, size_t, int, void *))   \
	X(cudaMemsetAsync, int, (void *, int, size_t, void *))                 \
	X(cudaMalloc, int, (void **, size_t))                                  \
	X(cudaMallocHost, int, (void **, size_t))                              \
	X(cudaMallocManaged, int, (void **, size_t, unsigned int))             \
	X(cudaMallocAsync, int, (void **, size_t, void *))                     \
	X(cudaFreeAsync, int, (void *, void *))                                \
	X(cudaLaunchHostFunc, int, (void *, void (*)(void *), void *))         \
	X(cudaStreamCreate, int, (void **))                                    \
	X(cudaStreamDestroy, int, (void *))                                    \
	X(cudaStreamSynchronize, int, (void *))                                \
	X(cudaStreamGetPriority, int, (void *, int *))                         \
	X(cudaEventCreate, int, (void **))                                     \
	X(cudaEventRecord, int, (void *, void *))                              \
	X(cudaSetDevice, int, (int))                                           \
	X(cudaDeviceSynchronize, int, (void))                                  \
	X(cudaDeviceReset, int, (void))                                        \
	X(cudaStreamBeginCapture, int, (void *, int))                          \
	X(cudaStreamEndCapture, int, (void *, void **))                        \
	X(cudaGraphCreate, int, (void **, unsigned int))                       \
	X(cudaGraphAddKernelNode, int,                                         \
	  (void **, void *, const void *, size_t, const struct kernel_node *)) \
	X(cudaGraphInstantiate, int, (void **, void *, unsigned long long))    \
	X(cudaGraphExecUpdate, int, (void *, void *, void *))                  \
	X(cudaGraphNodeSetEnabled, int, (void *, void *, unsigned int))        \
	X(cudaGraphLaunch, int, (void *, void *))                              \
	X(cudaGraphDestroy, int, (void *))                                     \
	X(cudaGraphExecDestroy, int, (void *))

static struct {
#define X(name, result, parameters) result(*name) parameters;
	RUNTIME_FUNCTIONS(X)
#undef X
} cuda;

static const struct size3 one = {1, 1, 1};

/* Its address is what the runtime knows a kernel by. */
static void kernel(void)
{
}

static inline void cuda_check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: error %d\n", what, error);
	exit(1);
}

#define CUDA(name, ...) cuda_check(cuda.name(__VA_ARGS__), #name)

static inline void runtime_find(void)
{
	void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		exit(NO_RUNTIME);
#define X(name, result, parameters)                                            \
	*(void **)(void *)&cuda.name = dlsym(library, #name);                  \
	if (!cuda.name)                                                        \
		exit(NO_RUNTIME);
	RUNTIME_FUNCTIONS(X)
#undef X
	cuda.__cudaRegisterFunction(cuda.__cudaRegisterFatBinary(NULL),
				    (const void *)kernel, NULL, "_Z6kernelv",
				    -1, NULL, NULL, NULL, NULL, NULL);
}

static inline void launch(void *stream, unsigned int blocks)
{
	const struct size3 grid = {blocks, 1, 1};

	CUDA(cudaLaunchKernel, (const void *)kernel, grid, one, NULL, 0,
	     stream);
}

/* An executable graph of so many such kernels. */
static inline void *runtime_graph(int nodes)
{
	const struct kernel_node node = {(void *)kernel, one, one, 0,
					 NULL,		 NULL};
	void *graph, *made, *executable;

	CUDA(cudaGraphCreate, &graph, 0);
	for (int i = 0; i < nodes; i++)
		CUDA(cudaGraphAddKernelNode, &made, graph, NULL, 0, &node);
	CUDA(cudaGraphInstantiate, &executable, graph, 0);
	return executable;
}

#endif
