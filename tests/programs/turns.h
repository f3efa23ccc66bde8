/* SPDX-License-Identifier: MIT */
/*
 * turns.h - threads that go through steps together and use CUDA's runtime.
 *
 * A program says what it put on the GPU in each step, one line a step:
 *
 *	step 3 kernel 24 gpu_memset 2
 */
#ifndef TURNS_H
#define TURNS_H

#include "runtime_client.h"
#include "traceprof.h"

#include <pthread.h>

enum { STEPS_MOST = 256, THREADS_MOST = 64, SORTS_MOST = 5 };

/* What was put on the GPU in each step. */
static _Atomic long done[STEPS_MOST][SORTS_MOST];

static struct {
	pthread_barrier_t begins, ends;
	void (*work)(int thread, int step);
	int steps;
} turns;

static void *take_turns(void *number)
{
	const int thread = (int)(long)number;

	for (int step = 0; step < turns.steps; step++) {
		pthread_barrier_wait(&turns.begins);
		turns.work(thread, step);
		pthread_barrier_wait(&turns.ends);
	}
	return NULL;
}

/* Each step the threads work, and when all have, the main thread does `after`.
 * What it does there is in the step too. */
static inline void turns_run(int steps, int count, void (*work)(int, int),
			     void (*after)(int))
{
	pthread_t threads[THREADS_MOST];

	turns.steps = steps < STEPS_MOST ? steps : STEPS_MOST;
	turns.work = work;
	pthread_barrier_init(&turns.begins, NULL, (unsigned int)count + 1);
	pthread_barrier_init(&turns.ends, NULL, (unsigned int)count + 1);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	for (int step = 0; step < turns.steps; step++) {
		traceprof_step();
		pthread_barrier_wait(&turns.begins);
		pthread_barrier_wait(&turns.ends);
		if (after)
			after(step);
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static inline void turns_tell(const char *const *sorts, int count)
{
	for (int step = 0; step < turns.steps; step++) {
		printf("step %d", step);
		for (int i = 0; i < count; i++)
			printf(" %s %ld", sorts[i], done[step][i]);
		printf("\n");
	}
}

#endif
