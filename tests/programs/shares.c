/* SPDX-License-Identifier: MIT */
/*
 * shares.c - three functions with 50, 30 and 20 % of the processor time by each
 * thread's own clock, in turns so long that few of them begin or end within a
 * timer's period, and something else before and after them: what a thread does
 * from its last sample on is in none.  shares THREADS MILLISECONDS.  C or C++;
 * there FUNCTION may say that they are inlined.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef FUNCTION
#define FUNCTION __attribute__((noinline)) static
#endif

static long long used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

#define WORK(name)                                                             \
	FUNCTION void name(long long until)                                    \
	{                                                                      \
		volatile unsigned long sum = 1;                                \
                                                                               \
		do {                                                           \
			for (int i = 0; i < 20000; i++)                        \
				sum = sum * 6364136223846793005UL + 1;         \
		} while (used() < until);                                      \
	}

WORK(around)
WORK(half)
WORK(third)
WORK(fifth)

static long long total;

static void *work(void *unused)
{
	const long long start = used();

	around(start + total / 4);
	half(start + total / 4 * 3);
	third(start + total / 20 * 21);
	fifth(start + total / 4 * 5);
	around(start + total / 2 * 3);
	return unused;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[64];

	total = (argc > 2 ? atoi(argv[2]) : 400) * 1000000LL / threads;
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("done\n");
	return 0;
}
