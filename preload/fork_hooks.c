/* SPDX-License-Identifier: MIT */
/*
 * fork_hooks.c - tells a forked child that it is one.
 *
 * No function of the fork family is wrapped:
 *
 *	fork		runs our handler in the child, before anything else
 *	_Fork, clone	run no handler; the gate's page is wiped, and the first
 *			hook finds it undecided (where the kernel can't wipe,
 *			such a child counts as its parent until it ends)
 *	vfork		can't be wrapped, since the child would return into a
 *			frame that its parent still needs; it shares our memory,
 *			and exec and exit hooks compare pids
 *	posix_spawn	as vfork, and the child calls nothing of ours
 *
 * Registered from the constructor, not when the process becomes interesting:
 * that may happen inside an allocation that pthread_atfork() itself makes for
 * somebody else, with its lock held.
 */
#include "preload/fork_hooks.h"

#include "collector/loader.h"
#include "preload/life.h"
#include <errno.h>
#include <pthread.h>

static void before(void)
{
	const int saved = errno;

	loader_before_fork();
	errno = saved;
}

static void in_child(void)
{
	loader_forget();
	life_forked();
}

void fork_hooks_start(void)
{
	pthread_atfork(before, loader_after_fork, in_child);
}
