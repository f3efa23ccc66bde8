/* SPDX-License-Identifier: MIT */
/* futex_waits.c - see futex_waits.h. */
#include "preload/wait/futex_waits.h"

#include "preload/process/hook.h"
#include "preload/process/real.h"
#include "preload/process/thread_watch.h"
#include "preload/wait/waits.h"
#include "preload/wait/wakers.h"
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

/* Not in the headers of older kernels. */
#define LOCK_PI2 13

static bool may_wait(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case LOCK_PI2: return true;
	default: return false;
	}
}

static bool may_wake(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_UNLOCK_PI: return true;
	default: return false;
	}
}

static void note(const void *object)
{
	const int saved = errno;
	const struct thread *thread = hook_thread_of_any_lightly();

	if (thread)
		wakers_note(object, thread->tid);
	errno = saved;
}

long futex_waits_call(long word, long operation, long value, long time,
		      long other, long last)
{
	const void *object = (const void *)word;
	const bool is_wanted = waits_are_wanted();
	const bool is_wait = is_wanted && may_wait(operation);
	const uint64_t before = is_wait ? wakers_look(object) : 0;
	const uint64_t start = is_wait ? clock_ticks() : 0;
	long result;

	if (thread_watch_is_on() && may_wait(operation))
		thread_watch_look_by_futex();
	if (is_wanted && may_wake(operation))
		note(object);
	result = real.syscall(SYS_futex, word, operation, value, time, other,
			      last);
	if (is_wait)
		waits_woken(WAIT_LOCK_futex, start, object, before);
	return result;
}
