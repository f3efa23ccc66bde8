/* SPDX-License-Identifier: MIT */
/*
 * stuck_disk.c - a disk that no longer answers whoever writes at an offset:
 * preloaded beside the library, it keeps the trace from growing.
 *
 * STUCK_WRITES is how many writes go through first.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int left = -1;

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	const char *text = getenv("STUCK_WRITES");

	if (left < 0)
		left = text ? atoi(text) : 0;
	if (left == 0) {
		for (;;)
			pause();
	}
	left--;
	return syscall(SYS_pwrite64, fd, bytes, len, at);
}
