/* SPDX-License-Identifier: MIT */
/*
 * steps_of_threads.c - three threads, one after the other, mark five steps
 * each; with an argument the first one marks one then, and a fourth five more.
 */
#include "traceprof.h"

#include <pthread.h>
#include <unistd.h>

static void *mark(void *unused)
{
	for (int i = 0; i < 5; i++) {
		traceprof_step();
		usleep(1000);
	}
	return unused;
}

static void mark_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, mark, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 3; i++)
		mark_in_thread();
	if (argc > 1) {
		traceprof_step();
		mark_in_thread();
	}
	return 0;
}
