/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - where descriptors of ours lie that stay: out of the way of the
 * program's own, which take the lowest that are free.
 */
#ifndef COLLECTOR_DESCRIPTOR_H
#define COLLECTOR_DESCRIPTOR_H

#include "collector/system/base.h"
#include <sys/resource.h>

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

#endif
