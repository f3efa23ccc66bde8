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
#include "runtime_client.h"
#include "traceprof.h"

#define STREAMS_MAX 64

int main(int argc, char **argv)
{
	const int ranges = argc > 1 ? atoi(argv[1]) : 10;
	const int wanted = argc > 2 ? atoi(argv[2]) : 1;
	const int count = wanted < STREAMS_MAX ? wanted : STREAMS_MAX;
	const int inner = argc > 3 ? atoi(argv[3]) : 0;
	const int empty = argc > 4 ? atoi(argv[4]) : 0;
	void *streams[STREAMS_MAX];

	runtime_find();
	for (int i = 0; i < count; i++)
		CUDA(cudaStreamCreate, &streams[i]);
	traceprof_push("all");
	for (int i = 0; i < ranges; i++) {
		traceprof_push("range");
		for (int j = 0; j < count; j++)
			launch(streams[j], 1);
		for (int j = 0; j < inner; j++) {
			traceprof_push("inner");
			launch(streams[0], 1);
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
