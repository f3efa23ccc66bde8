/* SPDX-License-Identifier: MIT */
/*
 * own_calls.c - system calls of ours under names that no program has.
 *
 * A program in C that does without <unistd.h> may have a read() of its own, of
 * other arguments, or an array that is called `signal` or `access`.  What a
 * program defines stands before the C library's for each library, so a call of
 * ours would run that, or jump into the array (Rodinia's myocyte has read() and
 * write(), and ended so).  The C library's own calls have other names, and
 * programs get away with it.
 *
 * So the linker puts these in the place of those names, in the library alone:
 * OWN_CALLS in the Makefile, --wrap.  They do what the C library's do, but
 * getcwd() allocates nothing, and none is a point at which a thread is
 * cancelled.  clone() and kill() are the hooks' own: fork_hooks.c,
 * exit_hooks.c; clock_gettime() has a file to itself, own_clock.c.
 */
#include "collector/system/base.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define OWN_CALL(result, name, parameters, number, ...)                        \
	result __wrap_##name parameters;                                       \
	result __wrap_##name parameters                                        \
	{                                                                      \
		return (result)syscall(number, __VA_ARGS__);                   \
	}

/* clang-format off */
OWN_CALL(ssize_t, read, (int fd, void *to, size_t bytes),
	 SYS_read, fd, to, bytes)
OWN_CALL(ssize_t, write, (int fd, const void *from, size_t bytes),
	 SYS_write, fd, from, bytes)
OWN_CALL(ssize_t, pread, (int fd, void *to, size_t bytes, off_t at),
	 SYS_pread64, fd, to, bytes, at)
OWN_CALL(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at),
	 SYS_pwrite64, fd, from, bytes, at)
OWN_CALL(int, close, (int fd), SYS_close, fd)
OWN_CALL(int, access, (const char *path, int mode),
	 SYS_faccessat, AT_FDCWD, path, mode)
OWN_CALL(int, unlink, (const char *path), SYS_unlinkat, AT_FDCWD, path, 0)
OWN_CALL(int, mkdir, (const char *path, mode_t mode),
	 SYS_mkdirat, AT_FDCWD, path, mode)
OWN_CALL(int, chdir, (const char *path), SYS_chdir, path)
OWN_CALL(int, dup, (int fd), SYS_dup, fd)
OWN_CALL(int, flock, (int fd, int operation), SYS_flock, fd, operation)
OWN_CALL(int, ftruncate, (int fd, off_t bytes), SYS_ftruncate, fd, bytes)
OWN_CALL(off_t, lseek, (int fd, off_t at, int whence),
	 SYS_lseek, fd, at, whence)
OWN_CALL(ssize_t, readlink, (const char *path, char *to, size_t bytes),
	 SYS_readlinkat, AT_FDCWD, path, to, bytes)
OWN_CALL(int, stat, (const char *path, struct stat *status),
	 SYS_newfstatat, AT_FDCWD, path, status, 0)
OWN_CALL(int, lstat, (const char *path, struct stat *status),
	 SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW)
OWN_CALL(int, fstat, (int fd, struct stat *status), SYS_fstat, fd, status)
OWN_CALL(int, nanosleep, (const struct timespec *time, struct timespec *rest),
	 SYS_nanosleep, time, rest)
OWN_CALL(int, uname, (struct utsname *name), SYS_uname, name)
/* clang-format on */

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	unsigned int mode = 0;
	va_list rest;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(rest, flags);
		mode = va_arg(rest, unsigned int);
		va_end(rest);
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

char *__wrap_getcwd(char *to, size_t bytes);
char *__wrap_getcwd(char *to, size_t bytes)
{
	return syscall(SYS_getcwd, to, bytes) < 0 ? NULL : to;
}

unsigned int __wrap_alarm(unsigned int seconds);
unsigned int __wrap_alarm(unsigned int seconds)
{
	const struct itimerval next = {.it_value.tv_sec = seconds};
	struct itimerval before = {0};

	syscall(SYS_setitimer, ITIMER_REAL, &next, &before);
	return (unsigned int)before.it_value.tv_sec +
	       (before.it_value.tv_usec > 0);
}

/* dup3() has no answer for two that are the same. */
int __wrap_dup2(int from, int to);
int __wrap_dup2(int from, int to)
{
	if (from == to)
		return syscall(SYS_fcntl, from, F_GETFD) < 0 ? -1 : to;
	return (int)syscall(SYS_dup3, from, to, 0);
}

__sighandler_t __wrap_signal(int number, __sighandler_t handler);
__sighandler_t __wrap_signal(int number, __sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_RESTART};
	struct sigaction before;

	return sigaction(number, &action, &before) ? SIG_ERR
						   : before.sa_handler;
}
