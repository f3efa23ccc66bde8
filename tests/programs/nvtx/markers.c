/* SPDX-License-Identifier: MIT */
/*
 * markers.c - a loop each of whose iterations holds one of every marker that a
 * step may begin with.
 *
 *	markers COUNT
 *
 * traceprof_step(), an NVTX range "batch", an OpenMP region of the function
 * `work`, the launch of the kernel "batch_kernel", a copy to the GPU; and a
 * millisecond of time.  Without a driver there is no kernel and no copy.
 */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "traceprof.h"

static const char module_text[] =
	".version 7.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry batch_kernel(.param .u64 p)\n"
	"{\n"
	"	ret;\n"
	"}\n";

static int (*launch)(void *, unsigned int, unsigned int, unsigned int,
		     unsigned int, unsigned int, unsigned int, unsigned int,
		     void *, void **, void **);
static int (*copy)(uint64_t, const void *, size_t, void *);
static void *kernel;
static uint64_t memory;

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function) {
		fprintf(stderr, "markers: no %s\n", name);
		exit(2);
	}
	return function;
}

/* All return 0, or the error. */
static int start_gpu(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int (*start)(unsigned int);
	int (*retain)(void **, int);
	int (*enter)(void *);
	int (*load)(void **, const void *);
	int (*get)(void **, void *, const char *);
	int (*allocate)(uint64_t *, size_t);
	void *context, *module;

	if (!library)
		return 0;
	start = find(library, "cuInit");
	retain = find(library, "cuDevicePrimaryCtxRetain");
	enter = find(library, "cuCtxSetCurrent");
	load = find(library, "cuModuleLoadData");
	get = find(library, "cuModuleGetFunction");
	allocate = find(library, "cuMemAlloc_v2");
	launch = find(library, "cuLaunchKernel");
	copy = find(library, "cuMemcpyHtoDAsync_v2");
	return start(0) || retain(&context, 0) || enter(context) ||
	       load(&module, module_text) ||
	       get(&kernel, module, "batch_kernel") || allocate(&memory, 64);
}

__attribute__((noinline)) static int work(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 10;
	static const char host[64];
	int sum = 0;

	if (start_gpu())
		return 1;
	for (int i = 0; i < count; i++) {
		void *arguments[] = {&memory};

		traceprof_step();
		nvtxRangePushA("batch");
		sum += work();
		if (launch)
			sum += launch(kernel, 1, 1, 1, 1, 1, 1, 0, NULL,
				      arguments, NULL);
		if (copy)
			sum += copy(memory, host, sizeof(host), NULL);
		nvtxRangePop();
		usleep(1000);
	}
	printf("%d iterations, %d\n", count, sum);
	return 0;
}
