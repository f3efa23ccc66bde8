/* SPDX-License-Identifier: MIT */
/*
 * cuda_sites.c - allocates, copies and waits in known functions.
 *
 *	cuda_sites MODE STEPS
 *
 * plain	a tensor of 4 MB, one from a pool and a pinned batch, given back
 *		in each step, and a wait and a needless one
 * leak		1 MB of the device kept in each step
 * pool		1 MB of the default pool kept in each step
 * pinned	1 MB of pinned memory of the host kept in each step
 *
 * The runtime is loaded by name, so that this builds everywhere.
 */
#include "traceprof.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { MB = 1000000, TO_DEVICE = 1 };

static struct {
	int (*malloc)(void **, size_t);
	int (*free)(void *);
	int (*pool_malloc)(void **, size_t, void *);
	int (*pool_free)(void *, void *);
	int (*host_alloc)(void **, size_t, unsigned int);
	int (*host_free)(void *);
	int (*copy)(void *, const void *, size_t, int);
	int (*wait)(void);
} cuda;

static void find(void *runtime, const char *name, void *place)
{
	*(void **)place = dlsym(runtime, name);
	if (!*(void **)place) {
		fprintf(stderr, "cuda_sites: no %s\n", name);
		exit(2);
	}
}

static void check(int error)
{
	if (error)
		exit(3);
}

static NOINLINE void *make_tensor(size_t bytes)
{
	void *tensor;

	check(cuda.malloc(&tensor, bytes));
	return tensor;
}

static NOINLINE void *make_pooled(size_t bytes)
{
	void *tensor;

	check(cuda.pool_malloc(&tensor, bytes, NULL));
	return tensor;
}

static NOINLINE void *make_batch(size_t bytes)
{
	void *batch;

	check(cuda.host_alloc(&batch, bytes, 0));
	return batch;
}

static NOINLINE void keep_tensor(void)
{
	memset(&(char){0}, make_tensor(MB) == NULL, 1);
}

static NOINLINE void keep_pooled(void)
{
	memset(&(char){0}, make_pooled(MB) == NULL, 1);
}

static NOINLINE void keep_batch(void)
{
	memset(&(char){0}, make_batch(MB) == NULL, 1);
}

static NOINLINE void load_batch(void *tensor)
{
	void *batch = make_batch(MB);

	memset(batch, 1, MB);
	check(cuda.copy(tensor, batch, MB, TO_DEVICE));
	check(cuda.host_free(batch));
}

static NOINLINE void wait_for_loss(void)
{
	check(cuda.wait());
}

static NOINLINE void wait_needlessly(void)
{
	check(cuda.wait());
}

static NOINLINE void train_step(void)
{
	void *tensor = make_tensor(4 * MB);
	void *pooled = make_pooled(2 * MB);

	load_batch(tensor);
	wait_needlessly();
	check(cuda.pool_free(pooled, NULL));
	wait_for_loss();
	check(cuda.free(tensor));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	const int steps = argc > 2 ? atoi(argv[2]) : 3;
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);

	if (!runtime) {
		fprintf(stderr, "cuda_sites: %s\n", dlerror());
		return 77;
	}
	find(runtime, "cudaMalloc", &cuda.malloc);
	find(runtime, "cudaFree", &cuda.free);
	find(runtime, "cudaMallocAsync", &cuda.pool_malloc);
	find(runtime, "cudaFreeAsync", &cuda.pool_free);
	find(runtime, "cudaHostAlloc", &cuda.host_alloc);
	find(runtime, "cudaFreeHost", &cuda.host_free);
	find(runtime, "cudaMemcpy", &cuda.copy);
	find(runtime, "cudaDeviceSynchronize", &cuda.wait);
	for (int step = 0; step < steps; step++) {
		traceprof_step();
		train_step();
		if (!strcmp(mode, "leak"))
			keep_tensor();
		if (!strcmp(mode, "pool"))
			keep_pooled();
		if (!strcmp(mode, "pinned"))
			keep_batch();
		usleep(500);
	}
	printf("%d steps\n", steps);
	return 0;
}
