/* SPDX-License-Identifier: MIT */
/*
 * stuck_disk.c - a disk that no longer answers whoever writes at an offset:
 * preloaded beside the library, it keeps the trace from growing.
 *
 * STUCK_WRITES is how many writes go through first.
 */
#include "system_call.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int left = -1;

static long answer_call(long number, const long *words)
{
	if (number == SYS_pwrite64) {
		const char *text = getenv("STUCK_WRITES");

		if (left < 0)
			left = text ? atoi(text) : 0;
		if (left == 0) {
			for (;;)
				pause();
		}
		left--;
	}
	return system_call(number, words);
}
