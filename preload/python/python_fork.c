/* SPDX-License-Identifier: MIT */
/*
 * python_fork.c - fopen(), by which CPython counts the process' threads.
 *
 * From 3.12 on os.fork() warns where there are several, and with -W error that
 * is an exception.  It reads their number in /proc/self/stat, so it would warn
 * because of our threads, in a program that has one.  What the interpreter
 * itself opens there says how many are the program's; all others get the
 * kernel's own file, which may be read again and again.
 */
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "preload/process/quiet.h"
#include "preload/process/real.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STAT_PATH  "/proc/self/stat"
#define STAT_BYTES 1024

/* Of what follows the name in brackets, counted from 0. */
#define THREADS_AT 17

static COLD bool is_interpreter(const void *code)
{
	const void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	Dl_info own, other;

	return runtime && dladdr(runtime, &own) && dladdr(code, &other) &&
	       own.dli_fbase == other.dli_fbase;
}

/* The length, 0: it can't be told. */
static COLD size_t stat_without(unsigned int ours, char *text, size_t bytes)
{
	char stat[STAT_BYTES];
	char *at, *rest;
	unsigned long threads;

	if (proc_read(STAT_PATH, stat, sizeof(stat)) <= 0)
		return 0;
	at = strrchr(stat, ')');
	for (int i = 0; at && i <= THREADS_AT; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return 0;
	threads = strtoul(at + 1, &rest, 10);
	if (threads <= ours)
		return 0;
	at[1] = '\0';
	return log_format(text, bytes, "%s%lu%s", stat, threads - ours, rest);
}

/* A copy that counts the program's own threads; -1: the kernel's will do. */
static COLD int copy_stat(void)
{
	const struct quiet quiet = quiet_begin();
	const unsigned int ours = background_count();
	char text[STAT_BYTES];
	const size_t len = ours ? stat_without(ours, text, sizeof(text)) : 0;
	int fd = len ? memfd_create("stat", MFD_CLOEXEC) : -1;

	if (fd >= 0 && pwrite(fd, text, len, 0) != (ssize_t)len) {
		close(fd);
		fd = -1;
	}
	quiet_end(&quiet);
	return fd;
}

/* NULL: it has none, or can't be opened. */
static COLD FILE *open_fd(int fd, const char *mode)
{
	FILE *stream = fd < 0 ? NULL : fdopen(fd, mode);

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

/* Nothing behind us is known yet. */
static COLD FILE *open_by_hand(const char *path, const char *mode)
{
	const bool updates = strchr(mode, '+') != NULL;
	int flags = updates ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;

	if (*mode != 'r')
		flags |= O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
	flags |= strchr(mode, 'e') ? O_CLOEXEC : 0;
	flags |= strchr(mode, 'x') ? O_EXCL : 0;
	return open_fd(open(path, flags, 0666), mode);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	FILE *copy = NULL;

	if (unlikely(!real.fopen) && !real_look_late())
		return open_by_hand(path, mode);
	if (unlikely(path && !strcmp(path, STAT_PATH)) &&
	    is_interpreter(__builtin_return_address(0)))
		copy = open_fd(copy_stat(), mode);
	return copy ? copy : real.fopen(path, mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
	__attribute__((alias("fopen")));
