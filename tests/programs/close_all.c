/* SPDX-License-Identifier: MIT */
/*
 * close_all.c - closes every descriptor, as daemons do, then writes a file.
 *
 *	close_all FILE
 *
 * Descriptors of a preloaded library are closed too, and the program's next
 * file may get their numbers: its bytes must be the program's alone.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int some_regions(int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum += 1;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int files[64];

	printf("%d\n", some_regions(10));
	/* Past the first checkpoint: the trace is open by now. */
	usleep(1200 * 1000);
	close_range(3, ~0u, 0);
	for (int i = 0; i < 64; i++)
		files[i] = open(argc > 1 ? argv[1] : "/dev/null",
				O_CREAT | O_WRONLY | O_APPEND, 0600);
	/* Numbers that a careful library would have moved to. */
	for (int number = 100; number < 1100; number += 1)
		dup2(files[0], number);
	printf("%d\n", some_regions(10));
	usleep(1500 * 1000);
	for (int i = 0; i < 64; i++)
		if (write(files[i], "program\n", 8) != 8)
			return 1;
	printf("%d\n", some_regions(10));
	return 0;
}
