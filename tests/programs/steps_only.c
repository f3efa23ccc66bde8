/* SPDX-License-Identifier: MIT */
/*
 * steps_only.c - steps and nothing else, until it is killed; it says how many
 * there were each 20000.
 */
#include "traceprof.h"

#include <stdio.h>

int main(void)
{
	for (unsigned int count = 1;; count++) {
		traceprof_step();
		if (count % 20000)
			continue;
		printf("%u\n", count);
		fflush(stdout);
	}
}
