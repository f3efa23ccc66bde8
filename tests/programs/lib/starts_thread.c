/* SPDX-License-Identifier: MIT */
/*
 * starts_thread.c - a library whose constructor waits for a thread that writes:
 * whoever loads it holds the loader's lock meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int written;

static void *run(void *unused)
{
	if (write(STDOUT_FILENO, "loading\n", 8) == 8)
		atomic_store(&written, 1);
	return unused;
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		return;
	while (!atomic_load(&written))
		sched_yield();
	pthread_join(thread, NULL);
}
