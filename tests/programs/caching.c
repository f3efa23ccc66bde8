/* SPDX-License-Identifier: MIT */
/*
 * caching.c - trains on a GPU through a caching allocator.
 *
 *	caching STEPS [KEEP]
 *
 * Each step takes 3 MB and gives them back; with KEEP 1 MB is kept.  The
 * libraries are opened as Python opens PyTorch's: seen by nobody else.
 */
#include "traceprof.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static void *(*get)(int, size_t, int (*)(void **, size_t));
static void (*put)(int, void *, size_t);
static int (*cuda_malloc)(void **, size_t);

static void find(void *library, const char *name, void *place)
{
	if (library)
		*(void **)place = dlsym(library, name);
	if (!library || !*(void **)place) {
		fprintf(stderr, "caching: %s: %s\n", name, dlerror());
		exit(library ? 2 : 77);
	}
}

static NOINLINE void *take_activation(size_t bytes)
{
	return get(0, bytes, cuda_malloc);
}

static NOINLINE void *keep_loss(size_t bytes)
{
	return get(0, bytes, cuda_malloc);
}

static NOINLINE void train_step(int keeps)
{
	static long kept;
	void *block;

	/* A kept block lies before what comes and goes. */
	if (keeps && keep_loss(1000000))
		kept++;
	block = take_activation(3000000);
	put(0, block, 3000000);
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 3;
	long (*reports)(void);

	find(dlopen("libcudart.so.13", RTLD_NOW), "cudaMalloc", &cuda_malloc);
	find(dlopen("libc10.so", RTLD_NOW), "c10_reports", &reports);
	find(dlopen("libc10_cuda.so", RTLD_NOW), "allocator_get", &get);
	find(dlopen("libc10_cuda.so", RTLD_NOW), "allocator_put", &put);
	for (int step = 0; step < steps; step++) {
		traceprof_step();
		train_step(argc > 2);
		usleep(500);
	}
	printf("%ld reports\n", reports());
	return 0;
}
