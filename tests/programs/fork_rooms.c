/* SPDX-License-Identifier: MIT */
/*
 * fork_rooms.c - a thread forks, and the child's threads tell where the stacks
 * of their signals' handlers are.
 *
 * Prints how many of them two threads share.
 */
#include "traceprof.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 6

static pthread_barrier_t all;
static void *rooms[THREADS];

static void *work(void *room)
{
	struct timespec now;
	stack_t stack;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (!now.tv_sec && now.tv_nsec < 100000000);
	/* The kernel tells; the library says that there is none. */
	syscall(SYS_sigaltstack, NULL, &stack);
	*(void **)room = stack.ss_flags & SS_DISABLE ? NULL : stack.ss_sp;
	pthread_barrier_wait(&all);
	return NULL;
}

static void run_all(void)
{
	pthread_t threads[THREADS];
	int shared = 0;

	traceprof_mark("begin");
	pthread_barrier_init(&all, NULL, THREADS);
	for (int i = 1; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &rooms[i]);
	work(&rooms[0]);
	for (int i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		for (int j = 0; j < i; j++)
			shared += rooms[i] && rooms[i] == rooms[j];
	printf("%d shared\n", shared);
	fflush(stdout);
}

static void *parent(void *unused)
{
	pid_t child;

	run_all();
	child = fork();
	if (!child) {
		run_all();
		exit(0);
	}
	waitpid(child, NULL, 0);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, parent, NULL);
	pthread_join(thread, NULL);
	return 0;
}
