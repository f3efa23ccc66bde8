/* SPDX-License-Identifier: MIT */
/*
 * hook.c - the first event of a thread.
 */
#include "preload/process/hook.h"

#include "preload/process/families.h"
#include "preload/process/life_parts.h"
#include <errno.h>

COLD struct thread *hook_thread_enter(void)
{
	const int saved = errno;
	struct thread *thread = thread_here();

	if (thread) {
		thread_ends_arm();
		families_thread_entered();
	}
	errno = saved;
	return thread;
}
