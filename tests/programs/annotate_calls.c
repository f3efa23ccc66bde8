/* SPDX-License-Identifier: MIT */
/*
 * annotate_calls.c - each call of include/traceprof.h, from C.
 *
 * Prints the same with and without the library, where all of it does nothing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traceprof.h"

static void scoped_by_function(void)
{
	TRACEPROF_FUNCTION();
	usleep(1000);
}

static void scopes(void)
{
	char name[32];

	traceprof_push("outer");
	traceprof_push("inner");
	usleep(1000);
	traceprof_pop();
	{
		TRACEPROF_SCOPE("scoped");
		usleep(1000);
	}
	/* Copied: the buffer changes while the scope is open. */
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "dynamic %d", i);
		traceprof_push(name);
		memset(name, '?', sizeof(name) - 1);
		traceprof_pop();
	}
	traceprof_pop();
	scoped_by_function();
}

/* What a careless caller does. */
static void mistakes(void)
{
	char *name = malloc(100001);

	traceprof_pop();
	traceprof_pop();
	memset(name, 'n', 100000);
	name[100000] = '\0';
	traceprof_push(name);
	traceprof_pop();
	free(name);
	traceprof_push("");
	traceprof_pop();
	traceprof_push("quote \" backslash \\ tab \t newline \n");
	traceprof_pop();
	traceprof_push("bytes \xff\xfe, gr\xc3\xbc\xc3\x9f, \xf0\x9f\x98\x80");
	traceprof_pop();
	traceprof_push("never popped");
}

static void deep(int levels)
{
	if (levels == 0)
		return;
	traceprof_push("deep");
	deep(levels - 1);
	traceprof_pop();
}

static void *on_a_thread(void *unused)
{
	TRACEPROF_SCOPE("on a thread");
	usleep(1000);
	return unused;
}

int main(void)
{
	pthread_t thread;

	scopes();
	traceprof_mark("a mark");
	traceprof_counter("loss", 2.5);
	traceprof_counter("loss", 1.25);
	traceprof_counter("loss", 0.0 / 0.0);
	pthread_create(&thread, NULL, on_a_thread, NULL);
	pthread_join(thread, NULL);
	deep(100);
	for (int i = 0; i < 3; i++)
		traceprof_step();
	mistakes();
	printf("done\n");
	return 0;
}
