/* SPDX-License-Identifier: MIT */
/*
 * fork_hooks.c - tells a forked child that it is one.
 *
 *	fork		runs our handler in the child, before anything else, and
 *			is wrapped: what begins the recording of a process at
 *			its start begins that of a child once all handlers have
 *			run, other libraries' too, whose locks we may need
 *	forkpty		is wrapped, too: it calls fork() inside the C library
 *	daemon		does so, and ends its parent by a call inside the C
 *			library, so all of it is done here
 *	_Fork, clone	run no handler and are wrapped, to keep our threads out
 *			of the loader (collector/system/loader.h); so is
 *			syscall(), in call_hooks.c.  The gate's page is wiped,
 *			and the first hook finds it undecided (where the kernel
 *			can't wipe, such a child counts as its parent until it
 *			ends)
 *	vfork		can't be wrapped, since the child would return into a
 *			frame that its parent still needs; it shares our memory,
 *			and exec and exit hooks compare pids
 *	posix_spawn	as vfork, and the child calls nothing of ours
 *
 * Registered from the constructor, not when a recording begins:
 * that may happen inside an allocation that pthread_atfork() itself makes for
 * somebody else, with its lock held.
 */
#include "preload/process/life_parts.h"

#include "collector/session/thread_self.h"
#include "collector/system/loader.h"
#include "preload/process/children.h"
#include "preload/process/life.h"
#include "preload/process/real.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* /dev/null's. */
#define NULL_MAJOR 1
#define NULL_MINOR 3

/* By which the C library knows whose a handler is.  The compiler's start files
 * have one too, where we are linked with them. */
extern void *__dso_handle __attribute__((visibility("hidden")));
__attribute__((weak)) void *__dso_handle = &__dso_handle;

static void before(void)
{
	const int saved = errno;

	/* A child can't: another thread may hold the loader's lock just now. */
	if (!real.read)
		real_look_late();
	loader_before_fork();
	errno = saved;
}

static void in_child(void)
{
	loader_forget();
	life_forked();
}

/* Counted once it is recorded: its parent, should it end now, must not say that
 * it isn't. */
static void child_is_there(void)
{
	life_child_begins();
	children_born();
}

EXPORT pid_t fork(void)
{
	pid_t pid;

	if (real_resolve() != REAL_READY || !real.fork)
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	pid = real.fork();
	if (!pid)
		child_is_there();
	return pid;
}

EXPORT pid_t forkpty(int *master, char *name, const struct termios *modes,
		     const struct winsize *size)
{
	pid_t pid;

	if (!real.forkpty && !(real_look_late() && real.forkpty)) {
		errno = ENOSYS;
		return -1;
	}
	pid = real.forkpty(master, name, modes, size);
	if (!pid)
		child_is_there();
	return pid;
}

/* As the C library: what isn't the null device is not taken for it. */
static int drop_streams(void)
{
	const int null = open("/dev/null", O_RDWR);
	struct stat status;
	int rc;

	if (null < 0)
		return -1;
	rc = fstat(null, &status);
	if (!rc && (!S_ISCHR(status.st_mode) ||
		    status.st_rdev != makedev(NULL_MAJOR, NULL_MINOR))) {
		errno = ENODEV;
		rc = -1;
	}
	for (int fd = STDIN_FILENO; !rc && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (rc || null > STDERR_FILENO)
		close(null);
	return rc;
}

/* The C library's own ends the parent past our hooks, with all that it has
 * recorded. */
EXPORT int daemon(int keep_folder, int keep_output)
{
	pid_t pid;

	if (real_resolve() != REAL_READY || !real.fork) {
		errno = ENOSYS;
		return -1;
	}
	pid = real.fork();
	if (pid > 0)
		_exit(0);
	if (pid < 0 || setsid() < 0)
		return -1;
	if (!keep_folder)
		(void)!chdir("/");
	if (!keep_output && drop_streams())
		return -1;
	child_is_there();
	return 0;
}

EXPORT pid_t _Fork(void)
{
	pid_t pid;

	if (real_resolve() != REAL_READY || !real._Fork)
		return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	before();
	pid = real._Fork();
	if (pid) {
		loader_after_fork();
	} else {
		loader_forget();
		children_born();
	}
	return pid;
}

/* Under a name of our own, since the headers have it with "...". */
EXPORT int fork_clone(int (*function)(void *), void *stack, int flags,
		      void *arg, void *parent, void *tls,
		      void *child) __asm__("clone");

/* The child begins in its function; of the loader it knows nothing yet, and
 * forgets it when it starts over. */
int fork_clone(int (*function)(void *), void *stack, int flags, void *arg,
	       void *parent, void *tls, void *child)
{
	int pid;

	if (real_resolve() != REAL_READY || !real.clone) {
		errno = EAGAIN;
		return -1;
	}
	if (flags & CLONE_VM)
		return real.clone(function, stack, flags, arg, parent, tls,
				  child);
	before();
	pid = real.clone(function, stack, flags, arg, parent, tls, child);
	loader_after_fork();
	/* The copy of the process that writes the rest down is none. */
	if (pid > 0 && thread_self != THREAD_BUSY)
		children_born();
	return pid;
}

/* As own_calls.c has others: what a program calls clone() stands before it. */
int __wrap_clone(int (*function)(void *), void *stack, int flags, void *arg,
		 void *parent, void *tls, void *child)
	__attribute__((alias("clone")));

void fork_hooks_start(void)
{
	pthread_atfork(before, loader_after_fork, in_child);
}
