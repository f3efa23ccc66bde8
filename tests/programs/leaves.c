/* SPDX-License-Identifier: MIT */
/*
 * leaves.c - two threads that end the process, the second one while the trace
 * of the first one is being written.
 *
 *	leaves exit|begun|exec
 *
 * The first one's _exit() writes it, slowly, since pwrite() is ours.  The
 * second one calls _exit() meanwhile; or has begun to, which it is told by
 * getpid(), the library's only call on the way; or it becomes another program.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *how;
static atomic_int is_leaving, is_there, is_writing;
static _Thread_local int is_second;

static void wait_for(atomic_int *word)
{
	/* For ten seconds at most: nobody may write. */
	for (int i = 0; i < 10000 && !atomic_load(word); i++)
		usleep(1000);
}

pid_t getpid(void)
{
	if (is_second) {
		is_second = 0;
		atomic_store(&is_there, 1);
		wait_for(&is_writing);
	}
	return (pid_t)syscall(SYS_getpid);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	if (atomic_load(&is_leaving)) {
		atomic_store(&is_writing, 1);
		usleep(300000);
	}
	return syscall(SYS_pwrite64, fd, bytes, len, at);
}

__attribute__((noinline)) static void last_region(void)
{
#pragma omp parallel num_threads(1)
	puts("region");
}

static void *leave(void *unused)
{
	if (!strcmp(how, "begun")) {
		is_second = 1;
		_exit(10);
	}
	atomic_store(&is_there, 1);
	wait_for(&is_writing);
	if (!strcmp(how, "exec"))
		execlp("true", "true", NULL);
	_exit(10);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	how = argc > 1 ? argv[1] : "exit";
	last_region();
	pthread_create(&thread, NULL, leave, NULL);
	wait_for(&is_there);
	atomic_store(&is_leaving, 1);
	_exit(10);
}
