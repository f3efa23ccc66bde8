/* SPDX-License-Identifier: MIT */
/*
 * gpu_launches.cu - what a launch costs, and what a million of them leave.
 *
 *	gpu_launches launch COUNT	nanoseconds of one launch of an empty
 *					kernel on the host, the least of rounds
 *	gpu_launches windows COUNT	the same in ten rounds, with a step of
 *					traceprof's at the end of each
 *	gpu_launches end WAY		a last kernel, and the end: return, exit,
 *					_exit, throw
 *	gpu_launches graph NODES COUNT	so many launches of a graph of empty
 *					kernels; growth of memory in KiB, on
 *					the host and on the device
 *
 * Prints one line of words and numbers.
 */
#include "traceprof.h"

#include <cuda_runtime.h>
#include <stdexcept>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, WINDOW_ROUNDS = 10, BURST = 500 };

__global__ void empty_kernel(void)
{
}

__global__ void last_kernel(void)
{
}

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "gpu_launches: %s: %s\n", what,
		cudaGetErrorString(error));
	exit(1);
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* In bursts that the launch queue holds, so that the GPU is not waited for. */
static double launch_round(int count)
{
	double spent = 0;

	for (int done = 0; done < count; done += BURST) {
		const double start = now_ns();

		for (int i = 0; i < BURST; i++)
			empty_kernel<<<1, 32>>>();
		spent += now_ns() - start;
		check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
	}
	return spent / ((count + BURST - 1) / BURST * BURST);
}

static int measure_launches(int count)
{
	double best = 1e18;

	launch_round(BURST);
	for (int i = 0; i < ROUNDS; i++) {
		const double one = launch_round(count / ROUNDS);

		best = one < best ? one : best;
	}
	printf("launch_ns %.1f count %d\n", best, count);
	return 0;
}

/* Before the first window, in it, and after the last one. */
static int measure_windows(int count)
{
	launch_round(BURST);
	printf("windows_ns");
	for (int i = 0; i < WINDOW_ROUNDS; i++) {
		printf(" %.1f", launch_round(count / WINDOW_ROUNDS));
		traceprof_step();
	}
	printf("\n");
	return 0;
}

/* The GPU has finished the last kernel. */
static int end_by(const char *way)
{
	launch_round(BURST);
	last_kernel<<<1, 1>>>();
	check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
	fflush(stdout);
	if (!strcmp(way, "exit"))
		exit(5);
	if (!strcmp(way, "_exit"))
		_exit(6);
	if (!strcmp(way, "throw"))
		throw std::runtime_error("as it should be");
	return 0;
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (file) {
		if (fscanf(file, "%*d %ld", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	return pages * 4;
}

static long device_used_kib(void)
{
	size_t free_bytes = 0, total = 0;

	check(cudaMemGetInfo(&free_bytes, &total), "cudaMemGetInfo");
	return (long)((total - free_bytes) / 1024);
}

static int run_graph(int nodes, int count)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	long host = 0, device = 0;

	check(cudaStreamCreate(&stream), "cudaStreamCreate");
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
	      "cudaStreamBeginCapture");
	for (int i = 0; i < nodes; i++)
		empty_kernel<<<1, 32, 0, stream>>>();
	check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
	check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
	for (int i = 0; i < count; i++) {
		check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
		if (i % 10 == 9 || i == count - 1)
			check(cudaStreamSynchronize(stream),
			      "cudaStreamSynchronize");
		if (i == count / 10) {
			host = resident_kib();
			device = device_used_kib();
		}
	}
	printf("kernels %ld host_kib %ld device_kib %ld\n",
	       (long)nodes * count, resident_kib() - host,
	       device_used_kib() - device);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "launch") == 0)
		return measure_launches(atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "windows") == 0)
		return measure_windows(atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "end") == 0)
		return end_by(argv[2]);
	if (argc == 4 && strcmp(argv[1], "graph") == 0)
		return run_graph(atoi(argv[2]), atoi(argv[3]));
	fprintf(stderr, "usage: gpu_launches launch COUNT | windows COUNT | "
			"end WAY | graph NODES COUNT\n");
	return 2;
}
