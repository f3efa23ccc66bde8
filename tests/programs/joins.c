/* SPDX-License-Identifier: MIT */
/*
 * joins.c - threads of C11 that work for a moment each, and one that sleeps
 * while it is waited for.  Nothing else is done.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static int work(void *milliseconds)
{
	struct timespec used;
	volatile unsigned long sum = 0;

	do {
		for (int i = 0; i < 10000; i++)
			sum += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (used.tv_nsec < *(int *)milliseconds * 1000000L);
	return 7;
}

static void *rest(void *unused)
{
	const struct timespec pause = {0, 100000000};

	nanosleep(&pause, NULL);
	return unused;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 5;
	int milliseconds = 20, sum = 0, answer;
	pthread_t thread;
	void *value;
	thrd_t one;

	for (int i = 0; i < count; i++) {
		if (thrd_create(&one, work, &milliseconds) != thrd_success)
			return 1;
		thrd_join(one, &answer);
		sum += answer;
	}
	pthread_create(&thread, NULL, rest, &sum);
	pthread_join(thread, &value);
	printf("%d %d\n", sum, value == &sum);
	return 0;
}
