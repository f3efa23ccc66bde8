/* SPDX-License-Identifier: MIT */
/* thread_watch.c - see thread_watch.h. */
#include "preload/process/thread_watch.h"

#include "collector/session/thread_self.h"
#include "collector/system/clock.h"
#include "preload/process/life.h"
#include "preload/process/real.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WATCH_SECONDS 2
#define LOOK_NS	      UINT64_C(10000000)
#define AGAIN_NS      UINT64_C(100000000)
#define JOIN_NS	      100000000
#define SECOND_NS     1000000000

static struct {
	_Atomic bool has_threads, is_noted;
	_Atomic uint64_t next_ns; /* to look at */
	bool has_worked;	  /* the first thread's */
} watch;

void thread_watch_start(void)
{
	store_relaxed(&watch.has_threads, false);
	store_relaxed(&watch.is_noted, false);
	watch.has_worked = false;
}

void thread_watch_created(void)
{
	if (!load_relaxed(&watch.has_threads))
		store_relaxed(&watch.has_threads, true);
	else
		thread_watch_look();
}

static bool has_worked(void)
{
	struct timespec used;

	return !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) &&
	       used.tv_sec >= WATCH_SECONDS;
}

/* Another thread may hold what a start needs: a lock of its allocator. */
static bool is_first_thread(void)
{
	return getpid() == (pid_t)syscall(SYS_gettid);
}

static bool is_by_work(const struct session *session)
{
	const char *reason = session->head->reason;

	return !strcmp(reason, WATCHED_FOR_THREADS) ||
	       !strcmp(reason, WATCHED_FOR_HEAP);
}

COLD void thread_watch_begun(void)
{
	struct session *session = load_relaxed(&session_here);
	struct timespec used;

	/* Of two threads that see the time one begins. */
	if (session && is_by_work(session) &&
	    !atomic_exchange_explicit(&watch.is_noted, true,
				      memory_order_relaxed) &&
	    !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
		session_note(session,
			     "the recording began when the program had used "
			     "%lu.%lu s of processor time; events of what it "
			     "did before are not in it",
			     (unsigned long)used.tv_sec,
			     (unsigned long)used.tv_nsec / 100000000);
}

/* Of a program that doesn't wait until it ends, that would be a recording of
 * its end: it begins with a later wait. */
COLD void thread_watch_look(void)
{
	const int saved = errno;
	uint64_t now;

	if (!load_relaxed(&watch.has_threads) || thread_self)
		return;
	now = clock_monotonic_ns();
	if (now >= load_relaxed(&watch.next_ns) && is_first_thread()) {
		if (watch.has_worked && life_is_watching()) {
			life_begin(WATCHED_FOR_THREADS);
			thread_watch_begun();
		}
		watch.has_worked = has_worked();
		store_relaxed(&watch.next_ns,
			      now + (watch.has_worked ? AGAIN_NS : LOOK_NS));
	}
	errno = saved;
}

COLD void thread_watch_look_by_futex(void)
{
	if (real_sizer() == REAL_SIZE_HEADER)
		thread_watch_look();
}

/* ETIMEDOUT: nothing of it was done, the caller is to wait for good. */
static int join(pthread_t thread, void **value)
{
	const bool is_first = is_first_thread();
	const int saved = errno;
	struct timespec until;
	int rc = ETIMEDOUT;

	while (rc == ETIMEDOUT && thread_watch_is_on() && is_first &&
	       real.pthread_timedjoin_np &&
	       !clock_gettime(CLOCK_REALTIME, &until)) {
		until.tv_nsec += JOIN_NS;
		until.tv_sec += until.tv_nsec / SECOND_NS;
		until.tv_nsec %= SECOND_NS;
		errno = saved;
		rc = real.pthread_timedjoin_np(thread, value, &until);
		/* Who needs no waiting for may be the last that there is. */
		if (rc == ETIMEDOUT)
			thread_watch_look();
	}
	return rc;
}

COLD int thread_watch_join(pthread_t thread, void **value)
{
	const int rc = join(thread, value);

	return rc == ETIMEDOUT ? real.pthread_join(thread, value) : rc;
}

/* The C library's thrd_t is a pthread_t, and its results are these. */
COLD int thread_watch_thrd_join(thrd_t thread, int *result)
{
	void *value = NULL;
	const int rc = join(thread, &value);

	if (rc == ETIMEDOUT)
		return real.thrd_join(thread, result);
	if (!rc && result)
		*result = (int)(uintptr_t)value;
	return rc ? thrd_error : thrd_success;
}

bool thread_watch_wants_counts(const struct session *session)
{
	return load_relaxed(&watch.has_threads) && is_by_work(session);
}
