/* SPDX-License-Identifier: MIT */
/*
 * bursts.c - 300 us of work, 300 us of sleep, again and again.  The file that
 * is named gets the processor time of the work, in microseconds: what going to
 * sleep and waking up take is the sleep's.
 */
#include <stdio.h>
#include <time.h>

#define BURSTS	 1500
#define BURST_NS 300000

static double used(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

__attribute__((noinline)) static void work(void)
{
	const double until = used() + BURST_NS;
	volatile unsigned long sum = 0;

	while (used() < until)
		for (int i = 0; i < 1000; i++)
			sum += (unsigned long)i;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {0, BURST_NS};
	double worked = 0;
	FILE *out;

	for (int burst = 0; burst < BURSTS; burst++) {
		worked -= used();
		work();
		worked += used();
		nanosleep(&pause, NULL);
	}
	out = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
	if (!out)
		return 1;
	fprintf(out, "%.0f\n", worked / 1e3);
	return fclose(out) != 0;
}
