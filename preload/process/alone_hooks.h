/* SPDX-License-Identifier: MIT */
/*
 * alone_hooks.h - calls before which our threads are put away.
 */
#ifndef PRELOAD_ALONE_HOOKS_H
#define PRELOAD_ALONE_HOOKS_H

#include "collector/system/base.h"

#include <sys/syscall.h>

static inline bool alone_concerns(long number)
{
	switch (number) {
	case SYS_unshare:
	case SYS_setns:
	case SYS_close_range:
	case SYS_capset:
	case SYS_setuid:
	case SYS_setgid:
	case SYS_setreuid:
	case SYS_setregid:
	case SYS_setresuid:
	case SYS_setresgid:
	case SYS_setgroups: return true;
	default: return false;
	}
}

/* As syscall(), of one of those, and of prctl() where it changes rights. */
long alone_syscall(long number, long a, long b, long c);

#endif
