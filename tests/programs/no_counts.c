/* SPDX-License-Identifier: MIT */
/*
 * no_counts.c - works on a machine whose kernel doesn't count for threads: what
 * is opened in /proc/self/task isn't there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the C library's place. */
int open(const char *path, int flags, ...)
{
	va_list list;
	int mode;

	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	if (!strncmp(path, "/proc/self/task/", 16)) {
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int main(void)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < 300000000; i++)
		sum += i;
	printf("%lu\n", sum);
	return 0;
}
