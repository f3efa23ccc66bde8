/* SPDX-License-Identifier: MIT */
/*
 * fork_work.c - children that work, and call nothing that any hook stands for,
 * but for one that allocates a lot.
 *
 *	fork_work fork|fork_exit|twice|_Fork|forkpty|daemon|exec|allocates|
 *		  outlives|killed
 *
 * Prints how each child ended, if it is waited for.
 */
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void child_work(void)
{
	struct timespec used;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while (!used.tv_sec && used.tv_nsec < 300000000);
}

static void allocate(void)
{
	static void *volatile block;

	for (int i = 0; i < 100000; i++) {
		block = malloc((size_t)i % 1000 + 1);
		free(block);
	}
}

static void await(pid_t child)
{
	int status;

	waitpid(child, &status, 0);
	printf("ended with %#x\n", status);
}

static void become(void)
{
	execl("/nowhere", "nowhere", (char *)NULL);
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

/* In a child of a child. */
static void twice(void)
{
	const pid_t child = fork();

	if (child) {
		waitpid(child, NULL, 0);
		_exit(5);
	}
	child_work();
	_exit(6);
}

static int told[2], gone[2];

static void wait_for_parents_end(void)
{
	char byte = 0;

	close(gone[1]);
	if (write(told[1], &byte, 1) != 1 || read(gone[0], &byte, 1))
		_exit(1);
}

/* Its parent ends while the child is still within fork(). */
static void outlive(void)
{
	char byte;

	if (pipe(told) || pipe(gone) ||
	    pthread_atfork(NULL, NULL, wait_for_parents_end))
		exit(1);
	if (fork())
		exit(read(told[0], &byte, 1) != 1);
	child_work();
	_exit(0);
}

/* Its parent ends it, as a pool does its workers. */
static void be_killed(void)
{
	const pid_t child = pipe(told) ? -1 : fork();
	char byte = 0;

	if (child < 0)
		exit(1);
	if (!child) {
		child_work();
		while (write(told[1], &byte, 1) == 1)
			pause();
	}
	if (read(told[0], &byte, 1) == 1)
		kill(child, SIGTERM);
	await(child);
	exit(0);
}

static pid_t make_child(const char *way)
{
	int master;

	if (!strcmp(way, "forkpty"))
		return forkpty(&master, NULL, NULL, NULL);
	return strcmp(way, "_Fork") ? fork() : _Fork();
}

/* The program that is waited for ends first: a pipe tells of the other. */
static int turn_daemon(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return 1;
	if (fork()) {
		close(ends[1]);
		return read(ends[0], &byte, 1) != 0;
	}
	if (daemon(1, 1))
		_exit(1);
	child_work();
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "fork";
	pid_t child;

	if (!strcmp(way, "daemon"))
		return turn_daemon();
	if (!strcmp(way, "outlives"))
		outlive();
	if (!strcmp(way, "killed"))
		be_killed();
	child = make_child(way);
	if (child) {
		await(child);
		return 0;
	}
	if (!strcmp(way, "exec"))
		become();
	if (!strcmp(way, "twice"))
		twice();
	if (!strcmp(way, "allocates"))
		allocate();
	child_work();
	if (!strcmp(way, "fork"))
		exit(3);
	_exit(4);
}
