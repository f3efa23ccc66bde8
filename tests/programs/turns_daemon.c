/* SPDX-License-Identifier: MIT */
/*
 * turns_daemon.c - a child works, turns into a daemon and works on.
 *
 *	turns_daemon KEEP_FOLDER KEEP_OUTPUT
 *
 * Prints what daemon() has left as it was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void work_before(void)
{
#pragma omp parallel num_threads(1)
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void work_after(void)
{
#pragma omp parallel num_threads(1)
	__asm__ volatile("" ::: "memory");
}

static void tell(int to, int next)
{
	char folder[512], where[512] = "";

	if (!getcwd(folder, sizeof(folder)))
		abort();
	dprintf(to, "folder %s, leader %d\n",
		strcmp(folder, "/") ? "kept" : "/", getsid(0) == getpid());
	for (int fd = 0; fd < 3; fd++) {
		char path[32];
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, where, sizeof(where) - 1);
		where[length > 0 ? length : 0] = '\0';
		dprintf(to, "%d %s\n", fd,
			strcmp(where, "/dev/null") ? "kept" : where);
	}
	dprintf(to, "next %d\n", next - to);
}

int main(int argc, char **argv)
{
	int ends[2], next;
	char byte;

	if (argc < 3 || pipe(ends))
		return 1;
	if (fork()) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) == 1)
			putchar(byte);
		return 0;
	}
	work_before();
	if (daemon(atoi(argv[1]), atoi(argv[2])))
		_exit(1);
	/* Before a recording begins, which opens files for moments. */
	next = dup(ends[1]);
	work_after();
	tell(ends[1], next);
	exit(0);
}
