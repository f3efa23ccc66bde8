/* SPDX-License-Identifier: MIT */
/*
 * thread_hooks.c - retires a thread's record when the thread ends.
 *
 * By the destructor of a pthread key; pthread_create() is left alone.  Other
 * keys' destructors still free memory, some after ours, so ours puts itself
 * back until the last round.  What is freed after that isn't counted.
 */
#include "preload/process/thread_hooks.h"

#include "collector/session/thread.h"
#include "preload/process/life.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>

static START_DATA pthread_key_t key;
static START_DATA bool has_key;

/* `round` counts the calls for this thread, from 1. */
static void thread_ends(void *round)
{
	const uintptr_t number = (uintptr_t)round;

	if (number < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    !pthread_setspecific(key, (void *)(number + 1)))
		return;
	/* A forked child that took no handler on its way (_Fork, clone) still
	 * has its parent's record here.  After the end of the recording not
	 * even the question is allowed: the thread may sit in a sandbox. */
	if (life_is_running())
		thread_leave();
}

void thread_hooks_start(void)
{
	if (!has_key)
		has_key = !pthread_key_create(&key, thread_ends);
}

void thread_hooks_arm(void)
{
	const int saved = errno;
	struct thread *was;

	if (!has_key)
		return;
	was = thread_busy();
	pthread_setspecific(key, (void *)1);
	thread_unbusy(was);
	errno = saved;
}
