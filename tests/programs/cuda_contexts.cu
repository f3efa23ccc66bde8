/* SPDX-License-Identifier: MIT */
/*
 * cuda_contexts.cu - two threads, each with a context of its own on the same
 * device, use it at once: streams, events and waits of both have the same
 * numbers.
 *
 *	cuda_contexts STEPS LAUNCHES
 *
 * In each step each thread launches LAUNCHES kernels on a stream, one on
 * another that waits for an event of the first, and one on the null stream, and
 * waits for them.
 */
#include "traceprof.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2 };

static const char *const names[THREADS] = {"first", "second"};
static int steps, launches;
static int (*make_context)(void **, unsigned int, int);
static int (*end_context)(void *);
static pthread_barrier_t turn;

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "cuda_contexts: %s: error %d\n", what, error);
	exit(1);
}

__global__ void one(char *data)
{
	if (data)
		data[threadIdx.x] += 1;
}

__global__ void two(char *data)
{
	if (data)
		data[threadIdx.x] += 2;
}

static void launch(int number, cudaStream_t stream)
{
	if (number)
		two<<<4, 128, 0, stream>>>(NULL);
	else
		one<<<4, 128, 0, stream>>>(NULL);
}

static void *use(void *argument)
{
	const int number = (int)(long)argument;
	cudaStream_t stream, other;
	cudaEvent_t event;
	void *context;

	check(make_context(&context, 0, 0), "context");
	check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
	check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "other");
	check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
	nvtxNameCudaStreamA(stream, names[number]);
	pthread_barrier_wait(&turn);
	for (int i = 0; i < steps; i++) {
		pthread_barrier_wait(&turn);
		for (int j = 0; j < launches; j++)
			launch(number, stream);
		check(cudaEventRecord(event, stream), "record");
		check(cudaStreamWaitEvent(other, event, 0), "wait");
		launch(number, other);
		launch(number, 0);
		check(cudaDeviceSynchronize(), "synchronise");
		pthread_barrier_wait(&turn);
	}
	check(end_context(context), "end");
	return NULL;
}

int main(int argc, char **argv)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	pthread_t threads[THREADS];

	steps = argc > 1 ? atoi(argv[1]) : 3;
	launches = argc > 2 ? atoi(argv[2]) : 2;
	if (!driver || cudaFree(NULL))
		return 77;
	*(void **)&make_context = dlsym(driver, "cuCtxCreate_v2");
	*(void **)&end_context = dlsym(driver, "cuCtxDestroy_v2");
	pthread_barrier_init(&turn, NULL, THREADS + 1);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, use, (void *)i);
	pthread_barrier_wait(&turn);
	for (int i = 0; i < steps; i++) {
		traceprof_step();
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
