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

#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include "preload/process/real.h"
#include "preload/stack/unwind.h"
#include "preload/wait/file_io.h"
#include "preload/process/thread_watch.h"
#include "preload/wait/wakers.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
	X(ssize_t, recv, (int fd, void *data, size_t bytes, int flags),	\
	  (fd, data, bytes, flags))					\
	X(ssize_t, send, (int fd, const void *data, size_t bytes, int flags), \
	  (fd, data, bytes, flags))					\
	X(int, nanosleep, (const struct timespec *time,			\
			   struct timespec *left), (time, left))	\
	X(int, usleep, (useconds_t microseconds), (microseconds))	\
	X(int, epoll_pwait, (int fd, struct epoll_event *events, int count, \
			     int milliseconds, const sigset_t *mask),	\
	  (fd, events, count, milliseconds, mask))			\
	X(int, accept, (int fd, struct sockaddr *from, socklen_t *bytes), \
	  (fd, from, bytes))						\
	X(int, accept4, (int fd, struct sockaddr *from, socklen_t *bytes, \
			 int flags),					\
	  (fd, from, bytes, flags))					\
	X(ssize_t, recvfrom, (int fd, void *data, size_t bytes, int flags, \
			      struct sockaddr *from, socklen_t *from_bytes), \
	  (fd, data, bytes, flags, from, from_bytes))			\
	X(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), \
	  (fd, message, flags))						\
	X(pid_t, waitpid, (pid_t pid, int *status, int options),	\
	  (pid, status, options))					\
	X(pid_t, wait4, (pid_t pid, int *status, int options,		\
			 struct rusage *used),				\
	  (pid, status, options, used))					\
	X(int, waitid, (idtype_t kind, id_t id, siginfo_t *info, int options), \
	  (kind, id, info, options))					\
	X(int, pselect, (int count, fd_set *read_set, fd_set *write_set, \
			 fd_set *other, const struct timespec *time,	\
			 const sigset_t *mask),				\
	  (count, read_set, write_set, other, time, mask))		\
	X(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), \
	  (fd, message, flags))						\
	X(int, system, (const char *command), (command))		\
	X(int, fsync, (int fd), (fd))					\
	X(int, fdatasync, (int fd), (fd))

/* Those of files too: X(what, name, parameters, arguments). */
#define FILE_CALLS(X)							\
	X(READ,  read, (int fd, void *data, size_t bytes), (fd, data, bytes)) \
	X(READ,  pread, (int fd, void *data, size_t bytes, off_t at),	\
	  (fd, data, bytes, at))					\
	X(READ,  readv, (int fd, const struct iovec *parts, int count),	\
	  (fd, parts, count))						\
	X(WRITE, write, (int fd, const void *data, size_t bytes),	\
	  (fd, data, bytes))						\
	X(WRITE, pwrite, (int fd, const void *data, size_t bytes, off_t at), \
	  (fd, data, bytes, at))					\
	X(WRITE, writev, (int fd, const struct iovec *parts, int count), \
	  (fd, parts, count))

/* Those that an older libc may lack: X(how it ends, name, of what, parameters,
 * arguments).  The last two copy from a file into another one or a socket, past
 * the program's memory. */
#define NEWER_CALLS(X)							\
	X(end_file, preadv, (FILE_VERB_READ, fd),			\
	  (int fd, const struct iovec *parts, int count, off_t at),	\
	  (fd, parts, count, at))					\
	X(end_file, preadv2, (FILE_VERB_READ, fd),			\
	  (int fd, const struct iovec *parts, int count, off_t at, int flags), \
	  (fd, parts, count, at, flags))				\
	X(end_file, pwritev, (FILE_VERB_WRITE, fd),			\
	  (int fd, const struct iovec *parts, int count, off_t at),	\
	  (fd, parts, count, at))					\
	X(end_file, pwritev2, (FILE_VERB_WRITE, fd),			\
	  (int fd, const struct iovec *parts, int count, off_t at, int flags), \
	  (fd, parts, count, at, flags))				\
	X(end_copy, sendfile, (from, to),				\
	  (int to, int from, off_t *at, size_t bytes),			\
	  (to, from, at, bytes))					\
	X(end_copy, copy_file_range, (from, to),			\
	  (int from, off64_t *from_at, int to, off64_t *to_at,		\
	   size_t bytes, unsigned int flags),				\
	  (from, from_at, to, to_at, bytes, flags))

/* Those that return what is wrong: X(what if there is no such function, name,
 * parameters, arguments). */
#define RETURNING_CALLS(X)						\
	X(EAGAIN, clock_nanosleep, (clockid_t clock, int flags,		\
				    const struct timespec *time,	\
				    struct timespec *left),		\
	  (clock, flags, time, left))					\
	X(-2, thrd_sleep, (const struct timespec *time,			\
			   struct timespec *left), (time, left))

/* Those that somebody wakes who signals what stands first: X(how it fails,
 * name, parameters, arguments, what). */
#define WOKEN_CALLS(X)							\
	X(FAIL_RETURNS, pthread_cond_wait, (pthread_cond_t *condition,	\
					    pthread_mutex_t *mutex),	\
	  (condition, mutex), condition)				\
	X(FAIL_RETURNS, pthread_cond_timedwait, (pthread_cond_t *condition, \
						 pthread_mutex_t *mutex, \
						 const struct timespec *until), \
	  (condition, mutex, until), condition)				\
	X(FAIL_RETURNS, pthread_cond_clockwait, (pthread_cond_t *condition, \
						 pthread_mutex_t *mutex, \
						 clockid_t clock,	\
						 const struct timespec *until), \
	  (condition, mutex, clock, until), condition)			\
	X(FAIL_C11, cnd_wait, (cnd_t *condition, mtx_t *mutex),		\
	  (condition, mutex), condition)				\
	X(FAIL_C11, cnd_timedwait, (cnd_t *condition, mtx_t *mutex,	\
				    const struct timespec *until),	\
	  (condition, mutex, until), condition)				\
	X(FAIL_ERRNO, sem_wait, (sem_t *semaphore), (semaphore), semaphore) \
	X(FAIL_ERRNO, sem_timedwait, (sem_t *semaphore,			\
				      const struct timespec *until),	\
	  (semaphore, until), semaphore)				\
	X(FAIL_ERRNO, sem_clockwait, (sem_t *semaphore, clockid_t clock, \
				      const struct timespec *until),	\
	  (semaphore, clock, until), semaphore)			\
	X(FAIL_RETURNS, pthread_barrier_wait, (pthread_barrier_t *barrier), \
	  (barrier), barrier)
/* clang-format on */

enum wait_call {
#define X(returns, name, ...) CALL_##name,
	WAITING_CALLS(X) FILE_CALLS(X) NEWER_CALLS(X) RETURNING_CALLS(X)
		CALL_READ_OTHER,
	CALL_WRITE_OTHER, /* of what is no file */
	CALL_sleep,
	CALL_pthread_join,
	CALL_thrd_join,
	WOKEN_CALLS(X)
#undef X
		CALL_LOCKS,
	CALL_COUNT = CALL_LOCKS + WAIT_LOCK_COUNT
};

static const char words[CALL_COUNT][32] = {
#define X(returns, name, ...) "wait: " #name,
	WAITING_CALLS(X) FILE_CALLS(X) NEWER_CALLS(X)
		RETURNING_CALLS(X) "wait: read (pipe or socket)",
	"wait: write (pipe or socket)",
	"wait: sleep",
	"wait: pthread_join",
	"wait: thrd_join",
	WOKEN_CALLS(X)
#undef X
#define X(name, word) word,
		WAIT_LOCKS(X)
#undef X
};

static void look_for_nothing(void)
{
}

static struct {
	_Atomic uint32_t name[CALL_COUNT]; /* of the session's names */
	_Atomic uint64_t least_ticks;
	const char *gil; /* what the GIL lies in */
	size_t gil_bytes;
	void (*look)(void); /* for an interpreter that has started */
} waits = {.look = look_for_nothing};

void waits_know_gil(const char *around, size_t bytes)
{
	waits.gil = around;
	waits.gil_bytes = bytes;
}

void waits_look_at_reads(void (*look)(void))
{
	waits.look = look;
}

static bool is_gil(const void *object)
{
	return (uintptr_t)object - (uintptr_t)waits.gil < waits.gil_bytes;
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

/* No call of a handler's, and none that an allocator makes. */
static bool is_harmless(unsigned int call)
{
	return call >= CALL_pthread_join && call < CALL_LOCKS;
}

/* Who waits, where samples are taken: a wait's stack may cost as much. */
static COLD __attribute__((noinline)) uint32_t stack_here(struct thread *thread)
{
	uint32_t stack;

	if (!unwind_wants(STACK_SAMPLES))
		return 0;
	thread_fill();
	stack = unwind_take(thread, UNWIND_OURS_MAX);
	thread_unbusy(thread);
	return stack;
}

static COLD void put(unsigned int call, uint64_t start, uint64_t end,
		     const struct wait_other *other)
{
	const int saved = errno;
	struct event event = {
		.kind = EVENT_HOST_WAIT,
		.name = load_relaxed(&waits.name[call]),
		.start_ticks = start,
		.end_ticks = end,
		.wait = {.object = (uint64_t)(uintptr_t)other->object,
			 .tid = other->tid,
			 .how = other->how,
			 .signals = other->signals}};
	struct thread *thread = is_harmless(call)
					? hook_thread_of_any()
					: hook_thread_of_any_lightly();

	if (thread) {
		event.stack = stack_here(thread);
		thread_record(thread, &event);
	}
	errno = saved;
}

/* Most are too short to be drawn. */
static inline void record(unsigned int call, uint64_t start,
			  const struct wait_other *other)
{
	const uint64_t end = clock_ticks();

	if (unlikely(end - start >= load_relaxed(&waits.least_ticks)))
		put(call, start, end, other);
}

/* 0: nothing is recorded of it. */
static inline uint64_t begin(void)
{
	return waits_are_wanted() ? clock_ticks() : 0;
}

static inline uint64_t begin_woken(void)
{
	if (thread_watch_is_on())
		thread_watch_look();
	return waits_are_wanted() || unlikely(gate_bits() & GATE_PYTHON &&
					      thread_self != THREAD_BUSY)
		       ? clock_ticks()
		       : 0;
}

static inline uint64_t begin_file(void)
{
	if (likely(!(gate_bits() & (GATE_WAIT | GATE_IO | GATE_PYTHON))))
		return 0;
	if (unlikely(gate_bits() & GATE_PYTHON))
		waits.look();
	return waits_are_wanted() || file_io_is_wanted() ? clock_ticks() : 0;
}

static inline void end(enum wait_call call, uint64_t start)
{
	static const struct wait_other nobody;

	if (unlikely(start) && gate_bits() & GATE_WAIT)
		record(call, start, &nobody);
}

void waits_lock_ends(enum wait_lock lock, uint64_t start,
		     const struct wait_other *other)
{
	if (gate_bits() & GATE_WAIT)
		record((unsigned int)CALL_LOCKS + lock, start, other);
}

/* One that was woken once knows by whom. */
static void know_waker(struct wait_other *other, uint64_t before)
{
	other->signals = wakers_since(other->object, before,
				      wakers_look(other->object), &other->tid);
	if (other->signals)
		other->how =
			other->signals == 1 ? WAIT_WOKEN_BY : WAIT_SIGNALLED_BY;
	else
		other->tid = 0;
}

void waits_woken(enum wait_lock lock, uint64_t start, const void *object,
		 uint64_t before)
{
	struct wait_other other = {.object = object};

	know_waker(&other, before);
	waits_lock_ends(lock, start, &other);
}

/* Who waits for a pipe waits for another process, and not for a disk. */
static COLD __attribute__((noinline)) void
put_file(enum wait_call call, int fd, uint64_t start, uint64_t ended)
{
	static const struct wait_other nobody;

	if (!file_io_is_file(fd))
		call = call < CALL_write ? CALL_READ_OTHER : CALL_WRITE_OTHER;
	put(call, start, ended, &nobody);
}

/* A file's is drawn as such, however long it took.  Not cold: where the
 * compiler minds size it may call the clock instead of reading it here. */
static __attribute__((noinline)) void end_file(enum wait_call call,
					       enum file_verb verb, int fd,
					       ssize_t bytes, uint64_t start)
{
	uint64_t ended;

	if (unlikely(gate_bits() & GATE_IO) && bytes >= 0 &&
	    file_io_took(verb, fd, (uint64_t)bytes, start))
		return;
	if (!start || !(gate_bits() & GATE_WAIT))
		return;
	ended = clock_ticks();
	if (unlikely(ended - start >= load_relaxed(&waits.least_ticks)))
		put_file(call, fd, start, ended);
}

/* Two files at the same time: the one that is read is drawn in the other. */
static COLD void end_copy(enum wait_call call, int from, int to, ssize_t bytes,
			  uint64_t start)
{
	if (gate_bits() & GATE_IO && bytes >= 0)
		file_io_took(FILE_VERB_READ, from, (uint64_t)bytes, start);
	end_file(call, FILE_VERB_WRITE, to, bytes, start);
}

static COLD void end_woken(enum wait_call call, uint64_t start,
			   const void *object, uint64_t before)
{
	struct wait_other other = {.object = object};

	know_waker(&other, before);
	if (is_gil(object) && gate_bits() & (GATE_WAIT | GATE_PYTHON))
		record((unsigned int)CALL_LOCKS + WAIT_LOCK_gil, start, &other);
	else if (gate_bits() & GATE_WAIT)
		record(call, start, &other);
}

static int failed(int error)
{
	errno = error;
	return -1;
}

/* Before the process was looked at, or where it is none of our business; what
 * is returned where there is no such call. */
#define LOOK_UP(name, returned)                                                \
	do {                                                                   \
		if (unlikely(!real.name)) {                                    \
			real_look_late();                                      \
			if (!real.name)                                        \
				return returned;                               \
		}                                                              \
	} while (0)

#define X(returns, name, parameters, arguments)                                \
	WAIT_HOOK returns name parameters                                      \
	{                                                                      \
		const uint64_t start = begin();                                \
		returns result;                                                \
                                                                               \
		LOOK_UP(name, failed(EAGAIN));                                 \
		if (likely(!start))                                            \
			return real.name arguments;                            \
		result = real.name arguments;                                  \
		end(CALL_##name, start);                                       \
		return result;                                                 \
	}
WAITING_CALLS(X)
#undef X

/* In the handler of samples libunwind asks a pipe whether an address can be
 * read.  That is to be no point of cancellation, and the thread's state can't
 * be changed for it there: who cancels it just then would wait for ever. */
#define SYS_pread  SYS_pread64
#define SYS_pwrite SYS_pwrite64
#define LIST(...)  __VA_ARGS__
#define X(verb, name, parameters, arguments)                                   \
	WAIT_HOOK ssize_t name parameters                                      \
	{                                                                      \
		const uint64_t start = begin_file();                           \
		ssize_t result;                                                \
                                                                               \
		if (unlikely(thread_self == THREAD_SAMPLING))                  \
			return syscall(SYS_##name, LIST arguments);            \
		LOOK_UP(name, failed(EAGAIN));                                 \
		if (likely(!start))                                            \
			return real.name arguments;                            \
		result = real.name arguments;                                  \
		end_file(CALL_##name, FILE_VERB_##verb, fd, result, start);    \
		return result;                                                 \
	}
FILE_CALLS(X)
#undef X

#define X(end, name, of, parameters, arguments)                                \
	WAIT_HOOK ssize_t name parameters                                      \
	{                                                                      \
		const uint64_t start = begin_file();                           \
		ssize_t result;                                                \
                                                                               \
		LOOK_UP(name, failed(ENOSYS));                                 \
		result = real.name arguments;                                  \
		if (unlikely(start))                                           \
			end(CALL_##name, LIST of, result, start);              \
		return result;                                                 \
	}
NEWER_CALLS(X)
#undef X

#define X(fails, name, parameters, arguments)                                  \
	WAIT_HOOK int name parameters                                          \
	{                                                                      \
		const uint64_t start = begin();                                \
		int result;                                                    \
                                                                               \
		LOOK_UP(name, fails);                                          \
		if (likely(!start))                                            \
			return real.name arguments;                            \
		result = real.name arguments;                                  \
		end(CALL_##name, start);                                       \
		return result;                                                 \
	}
RETURNING_CALLS(X)
#undef X

/* It says what is left where a signal ended it. */
WAIT_HOOK unsigned int sleep(unsigned int seconds)
{
	const uint64_t start = begin();
	unsigned int left;

	LOOK_UP(sleep, seconds);
	if (likely(!start))
		return real.sleep(seconds);
	left = real.sleep(seconds);
	end(CALL_sleep, start);
	return left;
}

#define FAIL_RETURNS EAGAIN
#define FAIL_C11     thrd_error
#define FAIL_ERRNO   failed(EAGAIN)
#define X(fails, name, parameters, arguments, object)                          \
	THREAD_WAIT_HOOK int name parameters                                   \
	{                                                                      \
		const uint64_t start = begin_woken();                          \
		const uint64_t before = start ? wakers_look(object) : 0;       \
		int result;                                                    \
                                                                               \
		LOOK_UP(name, fails);                                          \
		if (likely(!start))                                            \
			return real.name arguments;                            \
		result = real.name arguments;                                  \
		end_woken(CALL_##name, start, object, before);                 \
		return result;                                                 \
	}
WOKEN_CALLS(X)
#undef X

/* A thread noted its number under its handle when it got its record.  Handles
 * are used again: one that has ended by now was another. */
static uint32_t who_is(const void *handle, uint64_t noted)
{
	const int saved = errno;
	uint32_t tid = 0;

	if (!wakers_since(handle, 0, noted, &tid) ||
	    syscall(SYS_tgkill, getpid(), tid, 0))
		tid = 0;
	errno = saved;
	return tid;
}

/* One that begins while it is waited for is known at the end. */
struct join {
	uint64_t start, noted;
	struct wait_other other;
};

static struct join join_begins(const void *handle)
{
	struct join join = {.start = begin(), .other.how = WAIT_WOKEN_BY};

	if (unlikely(join.start)) {
		join.noted = wakers_look(handle);
		join.other.tid = who_is(handle, join.noted);
	}
	return join;
}

static COLD void join_ends(enum wait_call call, const void *handle,
			   struct join *join)
{
	uint32_t *tid = &join->other.tid;

	/* It got its record while it was waited for, and nobody else did. */
	if (!*tid &&
	    wakers_since(handle, join->noted, wakers_look(handle), tid) != 1)
		*tid = 0;
	if (gate_bits() & GATE_WAIT)
		record(call, join->start, &join->other);
}

THREAD_WAIT_HOOK int pthread_join(pthread_t thread, void **value)
{
	struct join join = join_begins((const void *)thread);
	int rc;

	LOOK_UP(pthread_join, EAGAIN);
	if (thread_watch_is_on())
		return thread_watch_join(thread, value);
	if (likely(!join.start))
		return real.pthread_join(thread, value);
	rc = real.pthread_join(thread, value);
	join_ends(CALL_pthread_join, (const void *)thread, &join);
	return rc;
}

THREAD_WAIT_HOOK int thrd_join(thrd_t thread, int *value)
{
	struct join join = join_begins((const void *)thread);
	int rc;

	LOOK_UP(thrd_join, thrd_error);
	if (thread_watch_is_on())
		return thread_watch_thrd_join(thread, value);
	if (likely(!join.start))
		return real.thrd_join(thread, value);
	rc = real.thrd_join(thread, value);
	join_ends(CALL_thrd_join, (const void *)thread, &join);
	return rc;
}

void waits_thread_entered(const struct thread *thread)
{
	if (gate_bits() & GATE_WAIT)
		wakers_note((const void *)pthread_self(), thread->tid);
}

/* Another name for it where files have 64 bits. */
WAIT_HOOK ssize_t pread64(int fd, void *data, size_t bytes, off64_t at)
	__attribute__((alias("pread")));
WAIT_HOOK ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t at)
	__attribute__((alias("pwrite")));
WAIT_HOOK ssize_t preadv64(int fd, const struct iovec *parts, int count,
			   off64_t at) __attribute__((alias("preadv")));
WAIT_HOOK ssize_t pwritev64(int fd, const struct iovec *parts, int count,
			    off64_t at) __attribute__((alias("pwritev")));
WAIT_HOOK ssize_t preadv64v2(int fd, const struct iovec *parts, int count,
			     off64_t at, int flags)
	__attribute__((alias("preadv2")));
WAIT_HOOK ssize_t pwritev64v2(int fd, const struct iovec *parts, int count,
			      off64_t at, int flags)
	__attribute__((alias("pwritev2")));
WAIT_HOOK ssize_t sendfile64(int to, int from, off64_t *at, size_t bytes)
	__attribute__((alias("sendfile")));

/* Small ones come out of the stream's own buffer: what it reads for them is
 * seen by nobody. */
static COLD size_t read_stream(void *data, size_t size, size_t count,
			       FILE *stream)
{
	const uint64_t start = clock_ticks();
	const size_t result = real.fread(data, size, count, stream);
	const int saved = errno;
	const int fd = fileno(stream);

	/* Some have no descriptor, and it says so by errno. */
	errno = saved;
	if (fd >= 0)
		file_io_took(FILE_VERB_READ, fd, (uint64_t)result * size,
			     start);
	return result;
}

WAIT_HOOK size_t fread(void *data, size_t size, size_t count, FILE *stream)
{
	LOOK_UP(fread, 0);
	if (unlikely(file_io_is_wanted()) && size * count >= FILE_IO_STREAM_MIN)
		return read_stream(data, size, count, stream);
	return real.fread(data, size, count, stream);
}

/*
 * What is called in a program that was built with _FORTIFY_SOURCE, where the
 * compiler knows how much room there is but not whether it is enough.  libc's
 * own go on inside, past us.
 */
void __chk_fail(void) __attribute__((noreturn));

/* X(returns, name, parameters, arguments, is the room too small?) */
/* clang-format off */
#define CHECKED_CALLS(X)						\
	X(ssize_t, read, (int fd, void *data, size_t bytes, size_t room), \
	  (fd, data, bytes), bytes > room)				\
	X(ssize_t, pread, (int fd, void *data, size_t bytes, off_t at,	\
			   size_t room),				\
	  (fd, data, bytes, at), bytes > room)				\
	X(int, poll, (struct pollfd *fds, nfds_t count, int milliseconds, \
		      size_t room),					\
	  (fds, count, milliseconds), count > room / sizeof(*fds))	\
	X(int, ppoll, (struct pollfd *fds, nfds_t count,		\
		       const struct timespec *time, const sigset_t *mask, \
		       size_t room),					\
	  (fds, count, time, mask), count > room / sizeof(*fds))	\
	X(ssize_t, recv, (int fd, void *data, size_t bytes, size_t room, \
			  int flags),					\
	  (fd, data, bytes, flags), bytes > room)			\
	X(ssize_t, recvfrom, (int fd, void *data, size_t bytes, size_t room, \
			      int flags, struct sockaddr *from,		\
			      socklen_t *from_bytes),			\
	  (fd, data, bytes, flags, from, from_bytes), bytes > room)	\
	X(size_t, fread, (void *data, size_t room, size_t size, size_t count, \
			  FILE *stream),				\
	  (data, size, count, stream), size && count > room / size)
/* clang-format on */

/* Our own, whoever has that name. */
#define X(returns, name, parameters, arguments, is_small)                      \
	extern __typeof__(name) hidden_##name                                  \
		__attribute__((alias(#name), visibility("hidden")));           \
	returns __##name##_chk parameters;                                     \
	WAIT_HOOK returns __##name##_chk parameters                            \
	{                                                                      \
		if (unlikely(is_small))                                        \
			__chk_fail();                                          \
		return hidden_##name arguments;                                \
	}
CHECKED_CALLS(X)
#undef X

ssize_t __pread64_chk(int fd, void *data, size_t bytes, off64_t at,
		      size_t room);
WAIT_HOOK ssize_t __pread64_chk(int fd, void *data, size_t bytes, off64_t at,
				size_t room)
	__attribute__((alias("__pread_chk")));
