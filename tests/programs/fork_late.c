/* SPDX-License-Identifier: MIT */
/*
 * fork_late.c - a region, by which the recording begins, and then so many
 * children, each of which works for so many ms of processor time.
 *
 *	fork_late CHILDREN MS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void work(long ms)
{
	struct timespec used;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

int main(int argc, char **argv)
{
	const int children = argc > 1 ? atoi(argv[1]) : 1;
	const long ms = argc > 2 ? atol(argv[2]) : 0;
	int members = 0;

#pragma omp parallel num_threads(1) reduction(+ : members)
	members++;
	for (int i = 0; i < children; i++) {
		if (fork())
			continue;
		work(ms);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	printf("%d members, %d children\n", members, children);
	return 0;
}
