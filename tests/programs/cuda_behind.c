/* SPDX-License-Identifier: MIT */
/*
 * cuda_behind.c - launches kernels faster than a GPU runs them, and never
 * waits: by the time that a step has ended on the host the GPU is seconds away
 * from it.
 *
 *	cuda_behind STEPS LAUNCHES [NODES [PAUSE_US [END_MS [DEVICES
 *		    [GRAPHS]]]]]
 *
 * Each step launches LAUNCHES kernels, or with NODES a graph of so many, and
 * then sleeps for PAUSE_US.  After the last one it goes on for END_MS without
 * a call of CUDA's.  With DEVICES, steps go to these in turn, and each device
 * is reset after half of them.  With GRAPHS so many more graphs are made, and
 * never launched.  The runtime is loaded by name and the kernel
 * registered by hand, as nvcc's code does it, so that this builds everywhere.
 */
#include "traceprof.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct size3 {
	unsigned int x, y, z;
};

struct kernel_node {
	void *function;
	struct size3 grid, block;
	unsigned int shared;
	void **arguments, **extra;
};

static struct {
	void **(*module)(void *);
	void (*function)(void **, const void *, void *, const char *, int,
			 void *, void *, void *, void *, void *);
	int (*launch)(const void *, struct size3, struct size3, void **, size_t,
		      void *);
	int (*graph)(void **, unsigned int);
	int (*add)(void **, void *, const void *, size_t,
		   const struct kernel_node *);
	int (*make)(void **, void *, unsigned long long);
	int (*run)(void *, void *);
	int (*stream)(void **);
	int (*device)(int);
	int (*reset)(void);
} cuda;

static const struct size3 one = {1, 1, 1};

/* Its address is what the runtime knows a kernel by. */
static void kernel(void)
{
}

static void find(void *runtime, const char *name, void *place)
{
	*(void **)place = dlsym(runtime, name);
	if (!*(void **)place) {
		fprintf(stderr, "cuda_behind: no %s\n", name);
		exit(2);
	}
}

static void find_all(void *runtime)
{
	find(runtime, "__cudaRegisterFatBinary", &cuda.module);
	find(runtime, "__cudaRegisterFunction", &cuda.function);
	find(runtime, "cudaLaunchKernel", &cuda.launch);
	find(runtime, "cudaGraphCreate", &cuda.graph);
	find(runtime, "cudaGraphAddKernelNode", &cuda.add);
	find(runtime, "cudaGraphInstantiate", &cuda.make);
	find(runtime, "cudaGraphLaunch", &cuda.run);
	find(runtime, "cudaStreamCreate", &cuda.stream);
	find(runtime, "cudaSetDevice", &cuda.device);
	find(runtime, "cudaDeviceReset", &cuda.reset);
}

static void *make_graph(int nodes)
{
	const struct kernel_node node = {(void *)kernel, one, one, 0,
					 NULL,		 NULL};
	void *graph, *made, *executable;

	if (cuda.graph(&graph, 0))
		exit(3);
	for (int i = 0; i < nodes; i++)
		if (cuda.add(&made, graph, NULL, 0, &node))
			exit(3);
	if (cuda.make(&executable, graph, 0))
		exit(3);
	return executable;
}

/* The device of this step, and its stream, which a reset takes away. */
static void *on_device(int step, int steps, int devices)
{
	static void *streams[8];
	const int device = step % devices;

	if (cuda.device(device))
		exit(4);
	if (step >= steps / 2 && step < steps / 2 + devices) {
		if (cuda.reset())
			exit(4);
		streams[device] = NULL;
	}
	if (!streams[device] && cuda.stream(&streams[device]))
		exit(4);
	return streams[device];
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 3;
	const int launches = argc > 2 ? atoi(argv[2]) : 1;
	const int nodes = argc > 3 ? atoi(argv[3]) : 0;
	const int pause_us = argc > 4 ? atoi(argv[4]) : 1000;
	const int end_ms = argc > 5 ? atoi(argv[5]) : 0;
	const int devices = argc > 6 ? atoi(argv[6]) : 0;
	const int graphs = argc > 7 ? atoi(argv[7]) : 0;
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
	void *stream, *executable;

	if (!runtime) {
		fprintf(stderr, "cuda_behind: %s\n", dlerror());
		return 77;
	}
	find_all(runtime);
	cuda.function(cuda.module(NULL), (const void *)kernel, NULL,
		      "_Z6kernelv", -1, NULL, NULL, NULL, NULL, NULL);
	if (cuda.stream(&stream))
		return 1;
	executable = nodes ? make_graph(nodes) : NULL;
	for (int i = 0; i < graphs; i++)
		make_graph(1);
	for (int i = 0; i < steps; i++) {
		traceprof_step();
		if (devices)
			stream = on_device(i, steps, devices);
		for (int j = 0; j < launches; j++)
			if (nodes ? cuda.run(executable, stream)
				  : cuda.launch((const void *)kernel, one, one,
						NULL, 0, stream))
				return 1;
		usleep((unsigned int)pause_us);
	}
	usleep((unsigned int)end_ms * 1000);
	return 0;
}
