/* SPDX-License-Identifier: MIT */
/* unwind_calls.c - asks the kernel itself; see unwind_calls.h. */
#include "preload/stack/unwind_calls.h"

#include "collector/session/thread_self.h"
#include "preload/process/hook_hide.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
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

/* Its table of a thread's code addresses, as it begins in 1.6: 1 << 14 of 16
 * bytes, all of which it writes first.  What has another size is unmapped. */
#define TABLE_BYTES (256u << 10)
#define KEPT_MOST   16u

static _Atomic(void *) kept[KEPT_MOST];

static void *map_again(void *at, size_t bytes, int rights, int flags, int fd,
		       off_t from)
{
	void *table = NULL;

	if (bytes == TABLE_BYTES && !at && flags & MAP_ANONYMOUS)
		for (size_t i = 0; i < KEPT_MOST && !table; i++)
			/* ACQUIRE pairs with RELEASE in unmap_later(): its
			 * last owner is done with it. */
			table = load_relaxed(&kept[i])
					? atomic_exchange_explicit(
						  &kept[i], NULL,
						  memory_order_acquire)
					: NULL;
	return table ? table
		     : (void *)syscall(SYS_mmap, at, bytes, rights, flags, fd,
				       from);
}

static int unmap_later(void *at, size_t bytes)
{
	void *none;

	for (size_t i = 0; bytes == TABLE_BYTES && i < KEPT_MOST; i++) {
		none = NULL;
		/* RELEASE pairs with ACQUIRE in map_again(). */
		if (atomic_compare_exchange_strong_explicit(
			    &kept[i], &none, at, memory_order_release,
			    memory_order_relaxed))
			return 0;
	}
	return (int)syscall(SYS_munmap, at, bytes);
}

union function {
	int (*open)(const char *path, int flags);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *bytes, size_t count);
	ssize_t (*write)(int fd, const void *bytes, size_t count);
	int (*sync)(void *at, size_t bytes, int flags);
	int (*block)(int how, const sigset_t *wanted, sigset_t *before);
	void *(*map)(void *at, size_t bytes, int rights, int flags, int fd,
		     off_t from);
	int (*unmap)(void *at, size_t bytes);
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

COLD void unwind_calls_keep_maps(uintptr_t library)
{
	const union function map = {.map = map_again};
	const union function unmap = {.unmap = unmap_later};

	/* One alone would give out what is in use. */
	if (hook_redirect(library, "munmap", unmap.any))
		hook_redirect(library, "mmap", map.any);
}
