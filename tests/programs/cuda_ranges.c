/* SPDX-License-Identifier: MIT */
/*
 * cuda_ranges.c - ranges around launches, faster than a GPU runs them.
 *
 *	cuda_ranges RANGES [STREAMS [INNER [EMPTY]]]
 *
 * Each range launches a kernel on each of STREAMS streams, and INNER more in
 * ranges inside of it; nobody waits for one.  EMPTY ranges without a launch
 * follow, and all of it lies in a range that ends with the program.  The
 * runtime is loaded by name and the kernel registered by hand, so that this
 * builds everywhere.
 */
#include "traceprof.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define STREAMS_MAX 64

struct size3 {
	unsigned int x, y, z;
};

static int (*launch)(const void *, struct size3, struct size3, void **, size_t,
		     void *);
static void *streams[STREAMS_MAX];

static void kernel(void)
{
}

static void *find(void *runtime, const char *name)
{
	void *found = dlsym(runtime, name);

	if (!found) {
		fprintf(stderr, "cuda_ranges: no %s\n", name);
		exit(2);
	}
	return found;
}

static void load(int count)
{
	void **(*module)(void *);
	void (*function)(void **, const void *, void *, const char *, int,
			 void *, void *, void *, void *, void *);
	int (*make_stream)(void **);
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);

	if (!runtime) {
		fprintf(stderr, "cuda_ranges: %s\n", dlerror());
		exit(77);
	}
	*(void **)&module = find(runtime, "__cudaRegisterFatBinary");
	*(void **)&function = find(runtime, "__cudaRegisterFunction");
	*(void **)&make_stream = find(runtime, "cudaStreamCreate");
	*(void **)&launch = find(runtime, "cudaLaunchKernel");
	function(module(NULL), (const void *)kernel, NULL, "_Z6kernelv", -1,
		 NULL, NULL, NULL, NULL, NULL);
	for (int i = 0; i < count; i++)
		if (make_stream(&streams[i]))
			exit(3);
}

static void launch_on(void *stream)
{
	const struct size3 one = {1, 1, 1};

	if (launch((const void *)kernel, one, one, NULL, 0, stream))
		exit(4);
}

int main(int argc, char **argv)
{
	const int ranges = argc > 1 ? atoi(argv[1]) : 10;
	const int wanted = argc > 2 ? atoi(argv[2]) : 1;
	const int count = wanted < STREAMS_MAX ? wanted : STREAMS_MAX;
	const int inner = argc > 3 ? atoi(argv[3]) : 0;

	const int empty = argc > 4 ? atoi(argv[4]) : 0;

	load(count);
	traceprof_push("all");
	for (int i = 0; i < ranges; i++) {
		traceprof_push("range");
		for (int j = 0; j < count; j++)
			launch_on(streams[j]);
		for (int j = 0; j < inner; j++) {
			traceprof_push("inner");
			launch_on(streams[0]);
			traceprof_pop();
		}
		traceprof_pop();
	}
	for (int i = 0; i < empty; i++) {
		traceprof_push("empty");
		traceprof_pop();
	}
	traceprof_pop();
	puts("done");
	return 0;
}
