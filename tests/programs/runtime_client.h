/* SPDX-License-Identifier: MIT */
/*
 * runtime_client.h - CUDA's runtime by dlopen(), for programs of many threads
 * that go through steps together; a kernel is registered by hand, as nvcc's
 * code does it.  No header of CUDA's is needed.
 *
 * A program says what it put on the GPU in each step, one line a step:
 *
 *	step 3 kernel 24 gpu_memset 2
 */
#ifndef RUNTIME_CLIENT_H
#define RUNTIME_CLIENT_H

#include "traceprof.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS_MOST = 256, THREADS_MOST = 64, SORTS_MOST = 5, NO_RUNTIME = 77 };

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
	X(cudaMallocAsync, int, (void **, size_t, void *))                     \
	X(cudaFreeAsync, int, (void *, void *))                                \
	X(cudaLaunchHostFunc, int, (void *, void (*)(void *), void *))         \
	X(cudaStreamCreate, int, (void **))                                    \
	X(cudaStreamDestroy, int, (void *))                                    \
	X(cudaStreamSynchronize, int, (void *))                                \
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

/* What was put on the GPU in each step. */
static _Atomic long done[STEPS_MOST][SORTS_MOST];

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

/* --- steps of all threads together ---------------------------------------- */

static struct {
	pthread_barrier_t begins, ends;
	void (*work)(int thread, int step);
	int steps;
} turns;

static void *take_turns(void *number)
{
	const int thread = (int)(long)number;

	for (int step = 0; step < turns.steps; step++) {
		pthread_barrier_wait(&turns.begins);
		turns.work(thread, step);
		pthread_barrier_wait(&turns.ends);
	}
	return NULL;
}

/* Each step the threads work, and when all have, the main thread does `after`.
 * What it does there is in the step too. */
static inline void turns_run(int steps, int count, void (*work)(int, int),
			     void (*after)(int))
{
	pthread_t threads[THREADS_MOST];

	turns.steps = steps < STEPS_MOST ? steps : STEPS_MOST;
	turns.work = work;
	pthread_barrier_init(&turns.begins, NULL, (unsigned int)count + 1);
	pthread_barrier_init(&turns.ends, NULL, (unsigned int)count + 1);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	for (int step = 0; step < turns.steps; step++) {
		traceprof_step();
		pthread_barrier_wait(&turns.begins);
		pthread_barrier_wait(&turns.ends);
		if (after)
			after(step);
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static inline void turns_tell(const char *const *sorts, int count)
{
	for (int step = 0; step < turns.steps; step++) {
		printf("step %d", step);
		for (int i = 0; i < count; i++)
			printf(" %s %ld", sorts[i], done[step][i]);
		printf("\n");
	}
}

#endif
