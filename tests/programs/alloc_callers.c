/* SPDX-License-Identifier: MIT */
/*
 * alloc_callers.c - one function that allocates, for callers that do different
 * things with it.
 *
 *	alloc_callers STEPS		8 MB passed on by one, 100 kB kept by
 *					another, 20 kB twice by a wrapper of
 *					malloc()
 *	alloc_callers STEPS worker	a thread keeps 100 kB of each job
 *	alloc_callers STEPS saw		100 kB a step, all freed each ten steps
 *	alloc_callers STEPS threads	a thread each step, that frees its
 *					800 kB before its end
 *	alloc_callers STEPS twice	an array grows, to twice its size each
 *					time
 */
#include "traceprof.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static void *volatile last;

static NOINLINE void *get_room(size_t bytes)
{
	void *room = malloc(bytes);

	last = room;
	return room;
}

static NOINLINE void pass_on(void)
{
	void *room = get_room(8000000);

	last = NULL;
	free(room);
}

static NOINLINE void keep_some(void)
{
	last = get_room(100000);
	last = NULL;
}

static NOINLINE void *checked_malloc(size_t bytes)
{
	void *room = malloc(bytes);

	if (!room)
		abort();
	last = room;
	return room;
}

static NOINLINE void keep_by_wrapper(void)
{
	last = checked_malloc(20000);
	last = checked_malloc(20000);
}

static sem_t given, taken;

static void *work(void *arg)
{
	for (;;) {
		sem_wait(&given);
		keep_some();
		sem_post(&taken);
	}
	return arg;
}

static void one_job(int step)
{
	static pthread_t thread;

	if (!step) {
		sem_init(&given, 0, 0);
		sem_init(&taken, 0, 0);
		pthread_create(&thread, NULL, work, NULL);
	}
	sem_post(&given);
	sem_wait(&taken);
}

static void *take_rooms(void *arg)
{
	void *rooms[8];

	for (int i = 0; i < 8; i++)
		rooms[i] = get_room(100000);
	for (int i = 0; i < 8; i++)
		free(rooms[i]);
	return arg;
}

static void one_thread(int step)
{
	pthread_t thread;

	(void)step;
	pthread_create(&thread, NULL, take_rooms, NULL);
	pthread_join(thread, NULL);
}

static void saw(int step)
{
	static void *teeth[10];

	teeth[step % 10] = get_room(100000);
	for (int i = 0; step % 10 == 9 && i < 10; i++)
		free(teeth[i]);
}

static void grow_twice(int step)
{
	static size_t room, used;
	static char *array;

	for (used = (size_t)(step + 1) * 100000; room < used;) {
		room = room ? 2 * room : 4096;
		array = realloc(array, room);
	}
	last = array;
}

static void keep_and_pass(int step)
{
	(void)step;
	pass_on();
	keep_some();
	keep_by_wrapper();
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 0;
	const char *how = argc > 2 ? argv[2] : "";
	void (*each)(int step) = !strcmp(how, "worker")	   ? one_job
				 : !strcmp(how, "threads") ? one_thread
				 : !strcmp(how, "saw")	   ? saw
				 : !strcmp(how, "twice")   ? grow_twice
							   : keep_and_pass;

	for (int step = 0; step < steps; step++) {
		traceprof_step();
		each(step);
		usleep(500);
	}
	puts("done");
	return 0;
}
