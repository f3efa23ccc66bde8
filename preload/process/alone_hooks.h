/* SPDX-License-Identifier: MIT */
/*
 * alone_hooks.h - calls before which our threads are put away, where they are
 * made by number.
 */
#ifndef PRELOAD_ALONE_HOOKS_H
#define PRELOAD_ALONE_HOOKS_H

#include "collector/system/base.h"

#include <sys/syscall.h>

static inline bool alone_concerns(long number)
{
	return number == SYS_unshare || number == SYS_setns ||
	       number == SYS_close_range;
}

/* As syscall(), of one of those. */
long alone_syscall(long number, long a, long b, long c);

#endif
