/* SPDX-License-Identifier: MIT */
/* unwind_calls.c - asks the kernel itself; see unwind_calls.h. */
#include "preload/stack/unwind_calls.h"

#include "collector/session/thread_self.h"
#include "preload/process/hook_hide.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* It makes no files. */
static int open_plainly(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

static int close_plainly(int fd)
{
	return (int)syscall(SYS_close, fd);
}

static ssize_t read_plainly(int fd, void *bytes, size_t count)
{
	return syscall(SYS_read, fd, bytes, count);
}

static ssize_t write_plainly(int fd, const void *bytes, size_t count)
{
	return syscall(SYS_write, fd, bytes, count);
}

static int sync_plainly(void *at, size_t bytes, int flags)
{
	return (int)syscall(SYS_msync, at, bytes, flags);
}

static int block_plainly(int how, const sigset_t *wanted, sigset_t *before)
{
	if (thread_self != THREAD_SAMPLING)
		return sigprocmask(how, wanted, before);
	/* All are blocked, and none is to be told of it again. */
	if (before)
		sigfillset(before);
	return 0;
}

union function {
	int (*open)(const char *path, int flags);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *bytes, size_t count);
	ssize_t (*write)(int fd, const void *bytes, size_t count);
	int (*sync)(void *at, size_t bytes, int flags);
	int (*block)(int how, const sigset_t *wanted, sigset_t *before);
	void *any;
};

/* Those of versions 1.3 to 1.8. */
COLD bool unwind_calls_redirect(uintptr_t library)
{
	static const struct {
		const char *name;
		union function to;
	} calls[] = {
		{"open", {.open = open_plainly}},
		{"open64", {.open = open_plainly}},
		{"close", {.close = close_plainly}},
		{"read", {.read = read_plainly}},
		{"write", {.write = write_plainly}},
		{"msync", {.sync = sync_plainly}},
	};
	bool are_all = true;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		are_all &=
			hook_redirect(library, calls[i].name, calls[i].to.any);
	return are_all;
}

COLD bool unwind_calls_keep_blocked(uintptr_t library)
{
	const union function to = {.block = block_plainly};

	return hook_redirect(library, "sigprocmask", to.any);
}
