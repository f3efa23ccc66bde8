/* SPDX-License-Identifier: MIT */
/*
 * named_pool.c - two threads that name themselves "crunch" and work.
 *
 *	named_pool [plain|many|names|waits]
 *
 * many: and 600 threads wait meanwhile.  names: so do 100, of a name each, from
 * before on.  waits: the two wait for two seconds.
 */
#include "traceprof.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void *idle(void *name)
{
	if (name)
		pthread_setname_np(pthread_self(), name);
	for (;;)
		pause();
	return name;
}

static void make_many(int number, bool have_names)
{
	static char names[100][16];
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < number; i++) {
		if (have_names)
			snprintf(names[i], sizeof(names[i]), "idle %d", i);
		pthread_create(&thread, &small, idle,
			       have_names ? names[i] : NULL);
	}
}

int main(int count, char **words)
{
	const char *how = count > 1 ? words[1] : "";
	pthread_t threads[2];

	traceprof_mark("begin");
	pthread_barrier_init(&done, NULL, 3);
	if (!strcmp(how, "names"))
		make_many(100, true);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work,
			       strcmp(how, "plain") ? (void *)"crunch" : NULL);
	if (!strcmp(how, "many"))
		make_many(600, false);
	pthread_barrier_wait(&done);
	if (!strcmp(how, "waits"))
		sleep(2);
	printf("done\n");
	return 0;
}
