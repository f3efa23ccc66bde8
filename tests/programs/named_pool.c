/* SPDX-License-Identifier: MIT */
/*
 * named_pool.c - two threads that name themselves "crunch" and work.
 *
 *	named_pool [plain]
 */
#include "traceprof.h"
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static volatile int is_over;
static pthread_barrier_t done;

static void *work(void *name)
{
	struct timespec now;

	if (name)
		pthread_setname_np(pthread_self(), name);
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (!now.tv_sec && now.tv_nsec < 150000000);
	pthread_barrier_wait(&done);
	while (!is_over)
		pthread_barrier_wait(&done);
	return NULL;
}

int main(int count, char **words)
{
	pthread_t threads[2];

	(void)words;
	traceprof_mark("begin");
	pthread_barrier_init(&done, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work,
			       count > 1 ? NULL : (void *)"crunch");
	pthread_barrier_wait(&done);
	printf("done\n");
	return 0;
}
