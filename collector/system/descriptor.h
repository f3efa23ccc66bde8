/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - where descriptors of ours lie that stay: out of the way of the
 * program's own, which take the lowest that are free.
 */
#ifndef COLLECTOR_DESCRIPTOR_H
#define COLLECTOR_DESCRIPTOR_H

#include "collector/system/base.h"
#include "collector/system/loader.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Above what programs count on, below usual limits. */
#define DESCRIPTOR_HIGH 700

/* The lowest of them, for F_DUPFD_CLOEXEC. */
static inline int descriptor_lowest(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) &&
	    limit.rlim_cur <= DESCRIPTOR_HIGH)
		return (int)(limit.rlim_cur - limit.rlim_cur / 4);
	return DESCRIPTOR_HIGH;
}

/* The same file there, where there is room.  Until then a child that is forked
 * has it among its own: so between loader_enter() and loader_leave(). */
static inline int descriptor_move_high(int fd)
{
	const int moved = fcntl(fd, F_DUPFD_CLOEXEC, descriptor_lowest());

	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

/* As open(), but there.  -1 and errno. */
static inline int descriptor_open_high(const char *path, int flags,
				       unsigned int mode)
{
	const bool keeps_forks_out = loader_enter_soon();
	int fd = open(path, flags, mode);
	const int failure = errno;

	if (fd >= 0)
		fd = descriptor_move_high(fd);
	if (keeps_forks_out)
		loader_leave();
	errno = failure;
	return fd;
}

#endif
