/* SPDX-License-Identifier: MIT */
/*
 * held.h - chosen steps of a program wait for the test.
 *
 * The program says "step N" and goes on when a line comes, so that a test can
 * wait for what it sees instead of for a time.
 */
#ifndef HELD_H
#define HELD_H

#include <stdio.h>
#include <stdlib.h>

/* True if the list of numbers between commas holds this one. */
static inline int held_lists(const char *list, int number)
{
	char *end;

	for (;; list = end + 1) {
		if (strtol(list, &end, 10) == number && end != list)
			return 1;
		if (*end != ',')
			return 0;
	}
}

static inline void held_wait(int step)
{
	printf("step %d\n", step);
	fflush(stdout);
	while (getchar() > '\n')
		;
}

#endif
