/* SPDX-License-Identifier: MIT */
/*
 * endless.c - regions and large blocks until somebody kills it.
 *
 * Prints a line when it has begun, then works; the argument, if any, is how
 * many milliseconds to go on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static int endless_region(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	const long limit = argc > 1 ? atol(argv[1]) : 60000;
	const long start = now_ms();
	long sum = 0;

	sum += endless_region();
	printf("begun\n");
	fflush(stdout);
	while (now_ms() - start < limit) {
		void *volatile block = malloc(100000);

		sum += endless_region();
		free(block);
		usleep(200);
	}
	return sum == 0;
}
