/* SPDX-License-Identifier: MIT */
/*
 * no_counts.c - works on a machine whose kernel doesn't count for threads: what
 * is opened in /proc/self/task isn't there.
 */
#include "lib/system_call.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static long answer_call(long number, const long *words)
{
	if (number == SYS_openat &&
	    !strncmp((const char *)(uintptr_t)words[1], "/proc/self/task/", 16))
		return -ENOENT;
	return system_call(number, words);
}

int main(void)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < 300000000; i++)
		sum += i;
	printf("%lu\n", sum);
	return 0;
}
