/* SPDX-License-Identifier: MIT */
/*
 * cuda_crowd.c - threads that are all there at once, each of which calls CUDA.
 *
 *	cuda_crowd THREADS
 *
 * With a buffer for each thread CUPTI needs as many of them.
 */
#include "runtime_client.h"

#include <pthread.h>

enum { STACK_BYTES = 128 << 10 };

static pthread_barrier_t all;
static void *stream;

static void *call(void *unused)
{
	(void)unused;
	launch(stream, 1);
	pthread_barrier_wait(&all);
	return NULL;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t small;

	runtime_find();
	CUDA(cudaStreamCreate, &stream);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	pthread_barrier_init(&all, NULL, (unsigned int)count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], &small, call, NULL))
			return 3;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	CUDA(cudaDeviceSynchronize);
	puts("done");
	return 0;
}
