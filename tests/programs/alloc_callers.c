/* SPDX-License-Identifier: MIT */
/*
 * alloc_callers.c - one function that allocates, for callers that do different
 * things with it.
 *
 *	alloc_callers STEPS	8 MB passed on by one, 100 kB kept by another,
 *				20 kB twice by a wrapper of malloc()
 */
#include "traceprof.h"
#include <stdio.h>
#include <stdlib.h>
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

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 0;

	for (int step = 0; step < steps; step++) {
		traceprof_step();
		pass_on();
		keep_some();
		keep_by_wrapper();
		usleep(500);
	}
	puts("done");
	return 0;
}
