/* SPDX-License-Identifier: MIT */
/*
 * hook.c - the first event of a thread.
 */
#include "preload/process/hook.h"

#include "preload/annotate/nvtx_range.h"
#include "preload/process/thread_hooks.h"
#include <errno.h>

COLD struct thread *hook_thread_enter(void)
{
	const int saved = errno;
	struct thread *thread = thread_here();

	if (thread) {
		thread_hooks_arm();
		nvtx_thread_entered();
	}
	errno = saved;
	return thread;
}
