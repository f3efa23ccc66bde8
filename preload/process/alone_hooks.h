/* SPDX-License-Identifier: MIT */
/*
 * alone_hooks.h - calls before which our threads are put away.
 */
#ifndef PRELOAD_ALONE_HOOKS_H
#define PRELOAD_ALONE_HOOKS_H

#include "preload/process/quiet.h"
#include <signal.h>
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

/* As syscall(), of one of those. */
long alone_syscall(long number, long a, long b, long c);

/* Around another call; `name` is for what is said if there can be no thread
 * afterwards.  False: the program has threads of its own, or nothing is
 * recorded, and there is nothing to end.  errno is the caller's to keep between
 * them. */
struct alone {
	struct quiet quiet;
	sigset_t was;
};
bool alone_begin(struct alone *alone);
void alone_end(const struct alone *alone, const char *name);

/* The program has threads, and one of them will have other rights than ours: if
 * anything is recorded, that ends. */
void alone_is_not(const char *name);

#endif
