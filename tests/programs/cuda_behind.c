/* SPDX-License-Identifier: MIT */
/*
 * cuda_behind.c - launches kernels faster than a GPU runs them, and never
 * waits: by the time that a step has ended on the host the GPU is seconds away
 * from it.
 *
 *	cuda_behind STEPS LAUNCHES [NODES [PAUSE_US [END_MS [DEVICES
 *		    [GRAPHS [RANGES]]]]]]
 *
 * Each step launches LAUNCHES kernels, or with NODES a graph of so many, and
 * then sleeps for PAUSE_US.  After the last one it goes on for END_MS without
 * a call of CUDA's.  With DEVICES, steps go to these in turn, and each device
 * is reset after half of them.  With GRAPHS so many more graphs are made, and
 * never launched.  With RANGES a step is a range, and is not marked.  The
 * runtime is loaded by name and the kernel registered by hand, as nvcc's code
 * does it, so that this builds everywhere.
 */
#include "runtime_client.h"
#include "traceprof.h"

#include <unistd.h>

/* The device of this step, and its stream, which a reset takes away. */
static void *on_device(int step, int steps, int devices)
{
	static void *streams[8];
	const int device = step % devices;

	CUDA(cudaSetDevice, device);
	if (step >= steps / 2 && step < steps / 2 + devices) {
		CUDA(cudaDeviceReset);
		streams[device] = NULL;
	}
	if (!streams[device])
		CUDA(cudaStreamCreate, &streams[device]);
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
	const int ranges = argc > 8 ? atoi(argv[8]) : 0;
	void *stream, *executable;

	runtime_find();
	CUDA(cudaStreamCreate, &stream);
	executable = nodes ? runtime_graph(nodes) : NULL;
	for (int i = 0; i < graphs; i++)
		runtime_graph(1);
	for (int i = 0; i < steps; i++) {
		if (ranges)
			traceprof_push("train_step");
		else
			traceprof_step();
		if (devices)
			stream = on_device(i, steps, devices);
		for (int j = 0; j < launches; j++)
			if (nodes)
				CUDA(cudaGraphLaunch, executable, stream);
			else
				launch(stream, 1);
		if (ranges)
			traceprof_pop();
		usleep((unsigned int)pause_us);
	}
	usleep((unsigned int)end_ms * 1000);
	return 0;
}
