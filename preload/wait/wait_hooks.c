/* SPDX-License-Identifier: MIT */
/*
 * wait_hooks.c - calls of the C library in which a thread may wait.
 *
 * Each is timed while a window is open, and drawn if it took longer than
 * TRACEPROF_WAIT_MIN.  The call itself, its errno and its place as a point of
 * cancellation are the library's: a thread that is cancelled in it leaves
 * through our frame, and its wait is not drawn.
 */
#include "preload/wait/waits.h"

#include "collector/session/gate.h"
#include "preload/process/hook.h"
#include "preload/process/real.h"
#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* One row for each function that says by -1 and errno that it failed:
 * X(returns, name, parameters, arguments). */
/* clang-format off */
#define WAITING_CALLS(X)						\
	X(int, poll, (struct pollfd *fds, nfds_t count, int milliseconds), \
	  (fds, count, milliseconds))					\
	X(int, ppoll, (struct pollfd *fds, nfds_t count,		\
		       const struct timespec *time, const sigset_t *mask), \
	  (fds, count, time, mask))					\
	X(int, select, (int count, fd_set *read_set, fd_set *write_set,	\
			fd_set *other, struct timeval *time),		\
	  (count, read_set, write_set, other, time))			\
	X(int, epoll_wait, (int fd, struct epoll_event *events, int count, \
			    int milliseconds),				\
	  (fd, events, count, milliseconds))				\
	X(ssize_t, read, (int fd, void *data, size_t bytes),		\
	  (fd, data, bytes))						\
	X(ssize_t, pread, (int fd, void *data, size_t bytes, off_t at),	\
	  (fd, data, bytes, at))					\
	X(ssize_t, write, (int fd, const void *data, size_t bytes),	\
	  (fd, data, bytes))						\
	X(ssize_t, recv, (int fd, void *data, size_t bytes, int flags),	\
	  (fd, data, bytes, flags))					\
	X(ssize_t, send, (int fd, const void *data, size_t bytes, int flags), \
	  (fd, data, bytes, flags))					\
	X(int, nanosleep, (const struct timespec *time,			\
			   struct timespec *left), (time, left))	\
	X(int, usleep, (useconds_t microseconds), (microseconds))	\
	X(int, sem_wait, (sem_t *semaphore), (semaphore))		\
	X(int, sem_timedwait, (sem_t *semaphore,			\
			       const struct timespec *until),		\
	  (semaphore, until))

/* Those that return what is wrong. */
#define RETURNING_CALLS(X)						\
	X(int, clock_nanosleep, (clockid_t clock, int flags,		\
				 const struct timespec *time,		\
				 struct timespec *left),		\
	  (clock, flags, time, left))					\
	X(int, pthread_join, (pthread_t thread, void **value),		\
	  (thread, value))						\
	X(int, pthread_cond_wait, (pthread_cond_t *condition,		\
				   pthread_mutex_t *mutex),		\
	  (condition, mutex))
/* Written out: it may be a wait for Python's GIL. */
#define OTHER_CALLS(X) X(int, pthread_cond_timedwait, (), ())
/* clang-format on */

enum wait_call {
#define X(returns, name, parameters, arguments) CALL_##name,
	WAITING_CALLS(X) RETURNING_CALLS(X) OTHER_CALLS(X)
#undef X
		CALL_GIL,
	CALL_COUNT
};

static const char words[CALL_COUNT][32] = {
#define X(returns, name, parameters, arguments) "wait: " #name,
	WAITING_CALLS(X) RETURNING_CALLS(X) OTHER_CALLS(X)
#undef X
		[CALL_GIL] = "wait: GIL",
};

static struct {
	_Atomic uint32_t name[CALL_COUNT]; /* of the session's names */
	_Atomic uint64_t least_ticks;
	const char *gil; /* what the GIL lies in */
	size_t gil_bytes;
} waits;

void waits_know_gil(const char *around, size_t bytes)
{
	waits.gil = around;
	waits.gil_bytes = bytes;
}

void waits_start(struct session *session, uint64_t least_ns)
{
	const double rate =
		(double)clock_ticks_per_second(&session->head->clock) / 1e9;

	for (int i = 0; i < CALL_COUNT; i++)
		store_relaxed(&waits.name[i],
			      names_intern_string(session, words[i]));
	store_relaxed(&waits.least_ticks, (uint64_t)((double)least_ns * rate));
}

static COLD void record(enum wait_call call, uint64_t start)
{
	const int saved = errno;
	const uint64_t end = clock_ticks();
	const struct event event = {.kind = EVENT_HOST_WAIT,
				    .name = load_relaxed(&waits.name[call]),
				    .start_ticks = start,
				    .end_ticks = end};
	struct thread *thread;

	if (end - start >= load_relaxed(&waits.least_ticks)) {
		thread = hook_thread_of_any();
		if (thread)
			thread_record(thread, &event);
	}
	errno = saved;
}

/* 0: nothing is recorded of it. */
static inline uint64_t begin(void)
{
	return unlikely(gate_bits() & GATE_WAIT) && thread_self != THREAD_BUSY
		       ? clock_ticks()
		       : 0;
}

static inline void end(enum wait_call call, uint64_t start)
{
	if (unlikely(start) && gate_bits() & GATE_WAIT)
		record(call, start);
}

static bool is_gil(const pthread_cond_t *condition)
{
	return (uintptr_t)condition - (uintptr_t)waits.gil < waits.gil_bytes;
}

/* Before the process was looked at, or where it is none of our business. */
#define LOOK_UP(name)                                                          \
	do {                                                                   \
		if (unlikely(!real.name))                                      \
			real_look_late();                                      \
	} while (0)

#define X(returns, name, parameters, arguments)                                \
	EXPORT returns name parameters                                         \
	{                                                                      \
		const uint64_t start = begin();                                \
		returns result;                                                \
                                                                               \
		LOOK_UP(name);                                                 \
		if (unlikely(!real.name)) {                                    \
			errno = EAGAIN;                                        \
			return -1;                                             \
		}                                                              \
		if (likely(!start))                                            \
			return real.name arguments;                            \
		result = real.name arguments;                                  \
		end(CALL_##name, start);                                       \
		return result;                                                 \
	}
WAITING_CALLS(X)
#undef X

#define X(returns, name, parameters, arguments)                                \
	EXPORT returns name parameters                                         \
	{                                                                      \
		const uint64_t start = begin();                                \
		returns result;                                                \
                                                                               \
		LOOK_UP(name);                                                 \
		if (unlikely(!real.name))                                      \
			return EAGAIN;                                         \
		if (likely(!start))                                            \
			return real.name arguments;                            \
		result = real.name arguments;                                  \
		end(CALL_##name, start);                                       \
		return result;                                                 \
	}
RETURNING_CALLS(X)
#undef X

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition,
				  pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	const uint32_t wanted = gate_bits() & (GATE_WAIT | GATE_PYTHON);
	uint64_t start = 0;
	int result;

	LOOK_UP(pthread_cond_timedwait);
	if (unlikely(!real.pthread_cond_timedwait))
		return EAGAIN;
	if (unlikely(wanted) && thread_self != THREAD_BUSY)
		start = clock_ticks();
	result = real.pthread_cond_timedwait(condition, mutex, until);
	if (likely(!start))
		return result;
	if (is_gil(condition) && gate_bits() & (GATE_WAIT | GATE_PYTHON))
		record(CALL_GIL, start);
	else
		end(CALL_pthread_cond_timedwait, start);
	return result;
}

/* Another name for it where files have 64 bits. */
EXPORT ssize_t pread64(int fd, void *data, size_t bytes, off64_t at)
	__attribute__((alias("pread")));
