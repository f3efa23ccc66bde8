/* SPDX-License-Identifier: MIT */
/*
 * exit_hooks.c - finishes the trace where no destructor would run: at _exit(),
 * at quick_exit(), where a program ends itself by a signal, and before another
 * program takes the process.
 *
 * exit(), and a return from main, need no hook for that: our destructor runs
 * after the program's own and after every handler that the program registered.
 * But while it holds up the end another thread may end the process too, say
 * because CUDA is gone: without us the first one would have been through, and
 * its status is the program's.  So the second one waits.
 * quick_exit() runs its handlers last registered first: ours comes last.
 * _exit() and _Exit() run nothing and are wrapped; Python's multiprocessing
 * ends its workers so.  A vfork child's _exit() is only forwarded
 * (life_end() compares pids).
 *
 * Python ends by a signal after Ctrl-C: it puts the default action back and
 * kills itself; so do handlers that clean up, by kill() or raise().  A signal
 * from elsewhere, or to a handler, is none of our business.
 *
 * libc's forms of exec call each other inside, past our hooks, so each is
 * wrapped; the forms with a list of arguments gather them here, on the stack,
 * and call those with an array.
 *
 * A program may try several paths until one works.  So the file is looked for
 * first, and an exec that can't succeed is only forwarded.  One that fails
 * after that ends the recording all the same, with one line: a new session in
 * the same process would leave other threads with records of the old one.
 *
 * A child of vfork() shares our memory: life_exec() does nothing for it.
 */
#include "preload/process/children.h"
#include "preload/process/life.h"
#include "preload/process/life_parts.h"
#include "preload/process/process.h"
#include "preload/process/quiet.h"
#include "preload/process/real.h"

#include "collector/system/futex.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The rest of an exit() that we held up, on a machine with much to do. */
#define REST_NS 200000000

/* The thread whose end we hold up, 0 none; futex word. */
static _Atomic uint32_t held;

bool life_hold_exit(void)
{
	uint32_t none = 0;

	return atomic_compare_exchange_strong_explicit(
		&held, &none, (uint32_t)syscall(SYS_gettid),
		memory_order_relaxed, memory_order_relaxed);
}

void life_release_exit(bool is_held)
{
	if (is_held)
		futex_change(&held, 0);
}

static COLD void let_first_end(uint32_t first)
{
	const struct timespec rest = {0, REST_NS};

	if (first == (uint32_t)syscall(SYS_gettid) || !life_is_owner())
		return;
	futex_wait_while(&held, first,
			 (uint64_t)process.options.exit_ms * 1000000u);
	nanosleep(&rest, NULL);
}

static void let_others_end(void)
{
	const uint32_t first = load_relaxed(&held);

	if (unlikely(first))
		let_first_end(first);
}

EXPORT void exit(int status)
{
	let_others_end();
	if (real_resolve() == REAL_READY && real.exit)
		real.exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

static _Noreturn void leave(int status)
{
	let_others_end();
	life_end();
	if (real_resolve() == REAL_READY && real._exit)
		real._exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _exit(int status)
{
	leave(status);
}

EXPORT void _Exit(int status)
{
	leave(status);
}

/* std::terminate() and failed checks. */
EXPORT void abort(void)
{
	let_others_end();
	if (real_resolve() == REAL_READY && real.abort)
		real.abort();
	syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGABRT);
	/* The signal was handled. */
	for (;;)
		syscall(SYS_exit_group, 127);
}

/* Does the default action end the process as soon as it is sent? */
static bool ends_itself(pid_t pid, int signal)
{
	struct sigaction action;
	sigset_t blocked;

	/* The first process of a container outlives its own. */
	return pid != 1 &&
	       (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) &&
	       pid == getpid() && !sigaction(signal, NULL, &action) &&
	       action.sa_handler == SIG_DFL &&
	       !pthread_sigmask(SIG_BLOCK, NULL, &blocked) &&
	       !sigismember(&blocked, signal);
}

EXPORT int kill(pid_t pid, int signal)
{
	const int saved = errno;

	if (ends_itself(pid, signal)) {
		let_others_end();
		life_end();
	}
	errno = saved;
	if (real_resolve() == REAL_READY && real.kill)
		return real.kill(pid, signal);
	return (int)syscall(SYS_kill, pid, signal);
}

/* As own_calls.c has others: what a program calls kill() stands before it. */
int __wrap_kill(pid_t pid, int signal) __THROW __attribute__((alias("kill")));

EXPORT int raise(int signal)
{
	const int saved = errno;

	if (ends_itself(getpid(), signal)) {
		let_others_end();
		life_end();
	}
	errno = saved;
	if (real.raise)
		return real.raise(signal);
	return (int)syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid),
			    signal);
}

static void end_quickly(void)
{
	let_others_end();
	life_end();
}

void exit_hooks_start(void)
{
	at_quick_exit(end_quickly);
}

static void keep_stderr(void)
{
	if (life_is_running())
		log_keep();
}

/* Registered when the recording begins, so it runs before most of the program's
 * own handlers, which close stderr.  No fork may copy the lock that atexit()
 * holds. */
void exit_hooks_begin(void)
{
	static _Atomic uint32_t is_registered;
	struct quiet quiet;

	if (atomic_exchange_explicit(&is_registered, 1, memory_order_relaxed))
		return;
	quiet = quiet_begin();
	if (loader_enter()) {
		atexit(keep_stderr);
		loader_leave();
	} else {
		store_relaxed(&is_registered, 0);
	}
	quiet_end(&quiet);
}

void exit_hooks_poll(void *unused)
{
	(void)unused;
	exit_hooks_begin();
}

static COLD __attribute__((destructor)) void end(void)
{
	life_end();
}

/* --- exec ----------------------------------------------------------------- */

/* Could this be executed?  errno is the caller's to keep. */
static bool can_run(int folder, const char *path)
{
	struct stat status;

	return path && !fstatat(folder, path, &status, 0) &&
	       S_ISREG(status.st_mode) && !faccessat(folder, path, X_OK, 0);
}

/* The same along PATH, as execvp() looks. */
static bool can_find(const char *file)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	if (!file || strchr(file, '/'))
		return can_run(AT_FDCWD, file);
	for (at = at ? at : "/bin:/usr/bin";; at++) {
		const size_t len = strcspn(at, ":");
		const size_t file_len = strlen(file);

		if (len + file_len + 2 < sizeof(path)) {
			memcpy(path, at, len);
			path[len] = '/';
			memcpy(path + len + !!len, file, file_len + 1);
			if (can_run(AT_FDCWD, path))
				return true;
		}
		at += len;
		if (!*at)
			return false;
	}
}

/* Ends the recording if the exec will do so anyway; one that is being ended by
 * another thread counts as none that runs, and is waited for. */
static bool begin(bool will_run)
{
	real_resolve();
	children_leave();
	return life_exec(will_run);
}

static int failed(bool ended)
{
	children_stay();
	if (ended)
		life_exec_failed();
	return -1;
}

static bool looks_good(int folder, const char *path)
{
	const int saved = errno;
	const bool good = life_is_running() && can_run(folder, path);

	errno = saved;
	return good;
}

static bool is_found(const char *file)
{
	const int saved = errno;
	const bool good = life_is_running() && can_find(file);

	errno = saved;
	return good;
}

/* The two ways to a file; whatever was called comes down to one of them. */
static int run_path(const char *path, char *const argv[], char *const envp[])
{
	const bool ended = begin(looks_good(AT_FDCWD, path));

	real.execve(path, argv, envp);
	return failed(ended);
}

static int run_found(const char *file, char *const argv[], char *const envp[])
{
	const bool ended = begin(is_found(file));

	real.execvpe(file, argv, envp);
	return failed(ended);
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return run_path(path, argv, envp);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return run_path(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return run_found(file, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return run_found(file, argv, envp);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	const bool ended = begin(life_is_running() && fd >= 0);

	real.fexecve(fd, argv, envp);
	return failed(ended);
}

EXPORT int execveat(int folder, const char *path, char *const argv[],
		    char *const envp[], int flags)
{
	const bool empty = !*path && (flags & AT_EMPTY_PATH);
	const bool ended =
		begin(empty ? life_is_running() : looks_good(folder, path));

	if (real.execveat)
		real.execveat(folder, path, argv, envp, flags);
	else
		errno = ENOSYS;
	return failed(ended);
}

/* How many pointers a list of arguments takes as an array, with its NULL. */
static size_t count_list(const char *first, va_list *list)
{
	size_t count = 1;

	for (const char *argument = first; argument; count++)
		argument = va_arg(*list, const char *);
	return count;
}

/* `argv` has room for what count_list() found. */
static void gather(char **argv, const char *first, va_list *list)
{
	*argv = (char *)(uintptr_t)first;
	while (*argv)
		*++argv = va_arg(*list, char *);
}

/* The array lies in the caller's frame: a child of vfork() must not allocate.
 * alloca, since the list may be as long as the caller likes. */
#define ARRAY(count) ((char **)__builtin_alloca((count) * sizeof(char *)))

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	char **argv = ARRAY(count_list(first, &list));

	va_end(list);
	va_start(list, first);
	gather(argv, first, &list);
	va_end(list);
	return run_path(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	char **argv = ARRAY(count_list(first, &list));

	va_end(list);
	va_start(list, first);
	gather(argv, first, &list);
	va_end(list);
	return run_found(file, argv, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *envp;
	va_list list;

	va_start(list, first);
	char **argv = ARRAY(count_list(first, &list));

	va_end(list);
	va_start(list, first);
	gather(argv, first, &list);
	envp = va_arg(list, char *const *);
	va_end(list);
	return run_path(path, argv, envp);
}
