/* SPDX-License-Identifier: MIT */
/*
 * many_windows.c - opens windows by hand faster than files can be made.
 *
 * Prints how many scopes it had.
 */
#include <stdio.h>

#include "traceprof.h"

#define WINDOWS 300

int main(void)
{
	int scopes = 0;

	for (int i = 0; i < WINDOWS; i++, scopes++) {
		const int is_open = !traceprof_start("one");

		traceprof_push("scope");
		traceprof_pop();
		if (is_open)
			traceprof_stop();
	}
	traceprof_push("scope");
	traceprof_pop();
	printf("%d\n", scopes + 1);
	return 0;
}
