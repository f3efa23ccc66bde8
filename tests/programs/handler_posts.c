/* SPDX-License-Identifier: MIT */
/*
 * handler_posts.c - threads that have done nothing but allocate are interrupted
 * in that by a signal, whose handler posts a semaphore and writes to a pipe.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 200
#define BLOCKS	64

static sem_t posted;
static int pipes[2];
static atomic_int runs;

static void handle(int number)
{
	const int saved = errno;

	(void)number;
	sem_post(&posted);
	if (write(pipes[1], "x", 1) != 1)
		_exit(1);
	errno = saved;
}

/* Of sizes for which the C library takes its lock each time. */
static void *allocate(void *unused)
{
	void *blocks[BLOCKS] = {NULL};

	atomic_store(&runs, 1);
	for (unsigned int i = 0; sem_trywait(&posted); i++) {
		free(blocks[i % BLOCKS]);
		blocks[i % BLOCKS] = malloc(1100 + i * 37 % 6000);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return unused;
}

int main(void)
{
	pthread_t thread;
	char byte;

	if (pipe(pipes) || sem_init(&posted, 0, 0) ||
	    signal(SIGUSR1, handle) == SIG_ERR)
		return 1;
	for (int i = 0; i < THREADS; i++) {
		atomic_store(&runs, 0);
		if (pthread_create(&thread, NULL, allocate, NULL))
			return 1;
		while (!atomic_load(&runs))
			sched_yield();
		for (volatile int wait = i * 50; wait; wait--)
			;
		pthread_kill(thread, SIGUSR1);
		pthread_join(thread, NULL);
		if (read(pipes[0], &byte, 1) != 1)
			return 1;
	}
	puts("all threads ended");
	return 0;
}
