/* SPDX-License-Identifier: MIT */
/*
 * before.c - allocates in so many threads, each in every way so often, and only
 * then begins to do what is recorded.
 *
 *	before THREADS EACH
 *
 * Prints what the threads did: calls that made a block, calls that gave one
 * back, bytes of those blocks.  The threads live until the process ends.
 */
#include "traceprof.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long each;
static pthread_barrier_t ready, done;
static atomic_long calls, frees, bytes;

struct sums {
	long calls, frees, bytes;
};

static void *made(struct sums *sums, void *block)
{
	sums->calls++;
	sums->bytes += (long)malloc_usable_size(block);
	return block;
}

static void in_every_way(struct sums *sums, size_t size)
{
	void *volatile block = made(sums, malloc(size));

	block = made(sums, realloc(block, 3 * size));
	free(block);
	block = made(sums, calloc(3, size));
	free(block);
	block = made(sums, realloc(NULL, size));
	block = realloc(block, 0);
	block = made(sums, memalign(64, size));
	free(block);
	free(NULL);
	if (malloc((size_t)-1 / 2) || realloc(NULL, (size_t)-1 / 2))
		abort();
	sums->frees += 5;
}

static void *run(void *same)
{
	struct sums sums = {0, 0, 0};

	pthread_barrier_wait(&ready);
	for (long i = 0; i < each; i++)
		in_every_way(&sums, 8 + (size_t)i % 1000);
	atomic_fetch_add(&calls, sums.calls);
	atomic_fetch_add(&frees, sums.frees);
	atomic_fetch_add(&bytes, sums.bytes);
	pthread_barrier_wait(&done);
	for (;;)
		pause();
	return same;
}

int main(int count, char **argument)
{
	const long threads = count > 2 ? atol(argument[1]) : 1;
	pthread_t thread;

	each = count > 2 ? atol(argument[2]) : 1;
	pthread_barrier_init(&ready, NULL, (unsigned int)threads);
	pthread_barrier_init(&done, NULL, (unsigned int)threads + 1);
	for (long i = 0; i < threads; i++)
		pthread_create(&thread, NULL, run, NULL);
	pthread_barrier_wait(&done);
	traceprof_push("recorded");
	traceprof_pop();
	printf("%ld %ld %ld\n", atomic_load(&calls), atomic_load(&frees),
	       atomic_load(&bytes));
	return 0;
}
