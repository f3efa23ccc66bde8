/* SPDX-License-Identifier: MIT */
/*
 * hook.c - the first event of a thread.
 */
#include "preload/process/hook.h"

#include "collector/session/gate.h"
#include "preload/process/families.h"
#include "preload/process/life_parts.h"
#include <errno.h>
#include <pthread.h>

static COLD struct thread *enter(void (*tell_families)(void))
{
	const int saved = errno;
	struct thread *thread = thread_here();

	if (thread) {
		thread_ends_arm();
		tell_families();
	}
	errno = saved;
	return thread;
}

COLD struct thread *hook_thread_enter(void)
{
	struct thread *thread;
	int cancels;

	/* As in each block that the profiler itself allocates. */
	if (thread_self == THREAD_BUSY)
		return NULL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
	thread = enter(families_thread_entered);
	pthread_setcancelstate(cancels, &cancels);
	return thread;
}

COLD struct thread *hook_thread_enter_lightly(void)
{
	return enter(families_thread_seen);
}

COLD struct thread *hook_thread_enter_counted(void)
{
	struct session *session = load_relaxed(&session_here);

	if (thread_self != THREAD_BUSY)
		return hook_thread_enter();
	if (session)
		add_relaxed(&session->head->missed_calls, 1);
	return NULL;
}

/* Its own thread alone sets it, and finds it. */
static struct thread *_Atomic lent;
static _Atomic pthread_t lent_to;

void hook_lend(struct thread *thread)
{
	store_relaxed(&lent_to, pthread_self());
	store_relaxed(&lent, thread);
}

COLD struct thread *hook_lent(void)
{
	struct thread *thread = load_relaxed(&lent);

	return thread && thread_self == THREAD_BUSY &&
			       load_relaxed(&lent_to) == pthread_self()
		       ? thread
		       : NULL;
}

COLD void hook_unfollowed(void)
{
	struct session *session = load_relaxed(&session_here);

	if (!session || !(gate_bits() & GATE_RECORD_BITS))
		return;
	add_relaxed(&session->head->unrecorded_calls, 1);
	add_relaxed(&session->head->unfollowed_calls, 1);
}

struct thread *hook_thread_at_end(const struct session *session)
{
	struct thread *thread = thread_self;

	return thread || !load_relaxed(&session->head->windows.steps)
		       ? thread
		       : hook_thread();
}
