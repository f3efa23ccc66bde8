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

/* In the C library's place. */
long syscall(long number, ...)
{
	long words[SYSTEM_CALL_WORDS];
	va_list list;

	va_start(list, number);
	system_call_words(words, list);
	va_end(list);
	if (number == SYS_openat &&
	    !strncmp((const char *)(uintptr_t)words[1], "/proc/self/task/", 16))
		return system_call_answer(-ENOENT);
	return system_call_answer(system_call(number, words));
}

int main(void)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < 300000000; i++)
		sum += i;
	printf("%lu\n", sum);
	return 0;
}
