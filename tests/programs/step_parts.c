/* SPDX-License-Identifier: MIT */
/*
 * step_parts.c - steps of known parts: work, a sleep, a wait for a lock that
 * another thread holds.  The file that is named gets what each step was and
 * what the parts took of it, in microseconds, by clocks of its own.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "traceprof.h"

/* With what follows the last one too few for one to be called a slow one. */
#define STEPS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return 1e6 * (double)time.tv_sec + (double)time.tv_nsec / 1e3;
}

static void pause_for(long milliseconds)
{
	const struct timespec pause = {0, milliseconds * 1000000};

	nanosleep(&pause, NULL);
}

__attribute__((noinline)) static void work(double microseconds)
{
	const double start = now(CLOCK_THREAD_CPUTIME_ID);
	volatile unsigned long sum = 0;

	while (now(CLOCK_THREAD_CPUTIME_ID) - start < microseconds)
		for (int i = 0; i < 10000; i++)
			sum += (unsigned long)i;
}

static void *hold(void *unused)
{
	for (int step = 0; step < STEPS; step++) {
		pthread_barrier_wait(&both);
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&both);
		pause_for(60);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(int argc, char **argv)
{
	FILE *out = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
	pthread_t other;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&other, NULL, hold, NULL);
	for (int step = 0; step < STEPS; step++) {
		double at[4], used;

		traceprof_step();
		at[0] = now(CLOCK_MONOTONIC);
		used = now(CLOCK_THREAD_CPUTIME_ID);
		work(200000);
		used = now(CLOCK_THREAD_CPUTIME_ID) - used;
		at[1] = now(CLOCK_MONOTONIC);
		pause_for(80);
		at[2] = now(CLOCK_MONOTONIC);
		pthread_barrier_wait(&both);
		pthread_barrier_wait(&both);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		at[3] = now(CLOCK_MONOTONIC);
		fprintf(out, "%.0f %.0f\n", at[3] - at[0], used);
	}
	traceprof_step();
	pthread_join(other, NULL);
	fclose(out);
	puts("done");
	return 0;
}
