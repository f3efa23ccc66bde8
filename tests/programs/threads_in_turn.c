/* SPDX-License-Identifier: MIT */
/* threads_in_turn.c - one short thread after the other, each with a block of
 * its own: COUNT; says how many pages each touched for the first time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void *live(void *arg)
{
	char *volatile block = malloc(100);

	free(block);
	return arg;
}

static void run(long count)
{
	pthread_t thread;

	while (count-- && !pthread_create(&thread, NULL, live, NULL))
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 1000;
	struct rusage before, after;

	run(100);
	getrusage(RUSAGE_SELF, &before);
	run(count);
	getrusage(RUSAGE_SELF, &after);
	printf("%ld\n", (after.ru_minflt - before.ru_minflt) / count);
	return 0;
}
