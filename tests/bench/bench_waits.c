/* SPDX-License-Identifier: MIT */
/*
 * bench_waits.c - what a wait costs that is long enough to be drawn: so many
 * sleeps of 60 us, 16 functions deep.
 *
 *	bench_waits WAITS
 *
 * Prints nanoseconds of processor time for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 16 };

static __attribute__((noinline, noclone)) int sleep_below(int depth)
{
	const struct timespec pause = {0, 60000};
	int done = depth ? sleep_below(depth - 1) : nanosleep(&pause, NULL);

	/* No jump instead of a call. */
	__asm__ volatile("" : "+r"(done));
	return done;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 1000;
	const double start = now_ns();

	for (long i = 0; i < count; i++)
		sleep_below(DEPTH);
	printf("%.1f\n", (now_ns() - start) / (double)count);
	return 0;
}
