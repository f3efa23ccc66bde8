/* SPDX-License-Identifier: MIT */
/*
 * cuda_scopes.c - scopes, steps and copies to a GPU, without a compiler for it.
 *
 *	cuda_scopes [STEPS [HELD[,HELD...]]]
 *
 * The CUDA runtime is loaded by name, so that this builds everywhere.  Each
 * step is a scope with two scopes inside, one of which copies twice on a
 * stream; all of it lies in a scope that ends with the program.  A step HELD
 * begins with a wait for a line.
 */
#include "held.h"
#include "traceprof.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES 65536

static void *runtime;

static void *find(const char *name)
{
	void *function = dlsym(runtime, name);

	if (!function) {
		fprintf(stderr, "cuda_scopes: no %s\n", name);
		exit(2);
	}
	return function;
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 3;
	const char *held = argc > 2 ? argv[2] : "";
	int (*allocate)(void **, size_t);
	int (*copy)(void *, const void *, size_t, int, void *);
	int (*make_stream)(void **);
	int (*wait)(void *);
	static char host[BYTES];
	void *device, *stream;

	runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
	if (!runtime) {
		fprintf(stderr, "cuda_scopes: %s\n", dlerror());
		return 77;
	}
	allocate = find("cudaMalloc");
	copy = find("cudaMemcpyAsync");
	make_stream = find("cudaStreamCreate");
	wait = find("cudaStreamSynchronize");
	traceprof_push("run");
	if (allocate(&device, BYTES) || make_stream(&stream))
		return 1;
	for (int i = 0; i < steps; i++) {
		traceprof_step();
		if (held_lists(held, i))
			held_wait(i);
		traceprof_push("train");
		traceprof_push("prepare");
		usleep(1000);
		traceprof_pop();
		traceprof_push("upload");
		copy(device, host, BYTES, 1, stream);
		copy(device, host, BYTES, 1, stream);
		traceprof_pop();
		wait(stream);
		traceprof_pop();
	}
	traceprof_pop();
	return 0;
}
