/* SPDX-License-Identifier: MIT */
/*
 * fork_descriptors.c - forks, in turns that are recorded, while other threads
 * work; each child looks which descriptor it gets next.
 *
 *	fork_descriptors FORKS THREADS
 *
 * Prints how many got another than they would have alone.
 */
#include "traceprof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *unused)
{
	for (;;)
		usleep(100);
	return unused;
}

int main(int argc, char **argv)
{
	const int forks = argc > 2 ? atoi(argv[1]) : 1;
	const int threads = argc > 2 ? atoi(argv[2]) : 0;
	const int next = dup(0);
	pthread_t thread;
	int others = 0, status;

	close(next);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread, NULL, work, NULL);
	for (int i = 0; i < forks; i++) {
		pid_t child;

		traceprof_step();
		child = fork();
		if (!child)
			_exit(dup(0) != next);
		if (child < 0 || waitpid(child, &status, 0) != child)
			abort();
		others += !!status;
	}
	printf("%d\n", others);
	return 0;
}
