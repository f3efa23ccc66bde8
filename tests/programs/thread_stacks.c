/* SPDX-License-Identifier: MIT */
/*
 * thread_stacks.c - threads that work and have a stack for signals each, of
 * the size that Rust's have; with "handlers" they work in handlers on it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#define THREADS 3
#define ROUNDS	200
#define SPIN_NS 2000000
#define USUAL	8192
#define BETWEEN 20000 /* looks at the clock */

long work_hard(int number);

static int handles;
static volatile long sums[THREADS];
static __thread volatile long spun;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

long __attribute__((noinline)) work_hard(int number)
{
	const long until = now_ns() + SPIN_NS;

	while (now_ns() < until)
		for (int i = 0; i < BETWEEN; i++)
			spun += number;
	return spun;
}

static void in_handler(int number)
{
	work_hard(number);
}

static void *train(void *arg)
{
	const int me = (int)(size_t)arg;
	const size_t most = getauxval(AT_MINSIGSTKSZ);
	stack_t stack = {.ss_size = most > USUAL ? most : USUAL};
	stack_t off = {.ss_flags = SS_DISABLE};

	stack.ss_sp = malloc(stack.ss_size);
	if (sigaltstack(&stack, NULL))
		return NULL;
	for (int round = 0; round < ROUNDS; round++) {
		if (handles)
			pthread_kill(pthread_self(), SIGUSR1);
		else
			work_hard(round);
		sums[me] += round;
	}
	sigaltstack(&off, NULL);
	free(stack.ss_sp);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = in_handler,
				   .sa_flags = SA_ONSTACK};
	pthread_t threads[THREADS];

	handles = argc > 1 && !strcmp(argv[1], "handlers");
	sigaction(SIGUSR1, &action, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, train, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
	return 0;
}
