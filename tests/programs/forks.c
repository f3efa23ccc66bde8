/* SPDX-License-Identifier: MIT */
/*
 * forks.c - makes children in each way that Linux knows.
 *
 *	forks WAY [count]
 *
 * The parent runs a region and allocates before and after, so that it has a
 * trace; what the child does is said by WAY.  Prints how each child ended.
 */
#include "confined.h"

#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) static int parent_work(void)
{
	int sum = 0;
	void *volatile block = malloc(100000);

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	free(block);
	return sum;
}

/* Serial regions only: libgomp's own threads do not survive a fork. */
__attribute__((noinline)) static int child_work(void)
{
	int sum = 0;

#pragma omp parallel num_threads(1) reduction(+ : sum)
	sum += 1;
	return sum;
}

static void report(pid_t pid)
{
	int status = 0;

	if (pid < 0) {
		printf("no child: %s\n", strerror(errno));
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	printf("child ended with %#x\n", status);
}

static void heap_only(void)
{
	for (int i = 0; i < 100; i++)
		free(malloc(100 + i));
}

static pid_t by_fork(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		heap_only();
		exit(11);
	}
	return pid;
}

static pid_t by_fork_exit_now(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		heap_only();
		_exit(12);
	}
	return pid;
}

/* From here on nothing but its end is allowed. */
static void enter_sandbox(void)
{
	confined_call(SYS_exit_group, SECCOMP_RET_ALLOW,
		      SECCOMP_RET_KILL_PROCESS);
}

static pid_t by_fork_sandbox(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		heap_only();
		enter_sandbox();
		exit(19);
	}
	return pid;
}

static pid_t by_fork_sandbox_exit_now(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		heap_only();
		enter_sandbox();
		_exit(20);
	}
	return pid;
}

/* No handler has run in it when it forbids itself all; then far more calls than
 * the library counts before it looks at the time. */
static pid_t by_fork_sandbox_heap(void)
{
	const pid_t pid = _Fork();

	if (pid == 0) {
		void *block = NULL;

		enter_sandbox();
		for (int i = 0; i < 20000; i++) {
			free(block);
			block = malloc(100);
		}
		_exit(21);
	}
	return pid;
}

/* As fork(), past its handlers. */
static pid_t by__Fork(void)
{
	const pid_t pid = _Fork();

	if (pid == 0) {
		heap_only();
		_exit(22);
	}
	return pid;
}

static int work_cloned(void *unused)
{
	(void)unused;
	heap_only();
	_exit(23);
}

static pid_t by_clone(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(work_cloned, stack + sizeof(stack), SIGCHLD, NULL);
}

/* With slow_loader.c: whether another thread is inside the loader. */
static int others_inside(void)
{
	int (*inside)(void);

	*(void **)&inside = dlsym(RTLD_DEFAULT, "slow_loader_inside");
	return inside && inside();
}

static void wait_for_others(void)
{
	for (int i = 0; i < 2000 && !others_inside(); i++)
		usleep(1000);
}

/* Born while another thread was inside?  It would hold the loader's lock. */
static pid_t by__Fork_met(void)
{
	pid_t pid;

	wait_for_others();
	pid = _Fork();
	if (pid == 0)
		_exit(24 + others_inside());
	return pid;
}

static int leave_cloned(void *unused)
{
	(void)unused;
	_exit(24 + others_inside());
}

static pid_t by_clone_met(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	wait_for_others();
	return clone(leave_cloned, stack + sizeof(stack), SIGCHLD, NULL);
}

/* The child is recorded itself. */
static pid_t by_fork_region(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		exit(child_work() == 1 ? 13 : 1);
	return pid;
}

static pid_t by_fork_twice(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		int status = 0;
		const pid_t grandchild = fork();

		if (grandchild == 0)
			exit(child_work() == 1 ? 14 : 1);
		waitpid(grandchild, &status, 0);
		exit(WEXITSTATUS(status));
	}
	return pid;
}

static pid_t by_vfork(void)
{
	const pid_t pid = vfork();

	if (pid == 0)
		_exit(15);
	return pid;
}

static pid_t by_vfork_exec(void)
{
	const pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	return pid;
}

static pid_t by_spawn(void)
{
	char *arguments[] = {"sh", "-c", "exit 16", NULL};
	pid_t pid = -1;

	errno = posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ);
	return pid;
}

static pid_t by_raw_clone(void)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		heap_only();
		_exit(17);
	}
	return pid;
}

static int cloned(void *unused)
{
	(void)unused;
	_exit(18);
}

/* Shares our memory, as vfork does, but runs beside us. */
static pid_t by_clone_vm(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(cloned, stack + sizeof(stack),
		     CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
}

static pid_t by_system(void)
{
	printf("system %#x\n", system("exit 3"));
	return by_fork();
}

static const struct {
	const char *name;
	pid_t (*make)(void);
} ways[] = {
	{"fork", by_fork},
	{"fork_exit_now", by_fork_exit_now},
	{"fork_sandbox", by_fork_sandbox},
	{"fork_sandbox_exit_now", by_fork_sandbox_exit_now},
	{"fork_sandbox_heap", by_fork_sandbox_heap},
	{"_Fork", by__Fork},
	{"_Fork_met", by__Fork_met},
	{"clone_met", by_clone_met},
	{"clone", by_clone},
	{"fork_region", by_fork_region},
	{"fork_twice", by_fork_twice},
	{"vfork", by_vfork},
	{"vfork_exec", by_vfork_exec},
	{"spawn", by_spawn},
	{"raw_clone", by_raw_clone},
	{"clone_vm", by_clone_vm},
	{"system", by_system},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const int count = argc > 2 ? atoi(argv[2]) : 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(name, ways[i].name) != 0)
			continue;
		printf("before %d\n", parent_work());
		for (int child = 0; child < count; child++)
			report(ways[i].make());
		printf("after %d\n", parent_work());
		return 0;
	}
	fprintf(stderr, "forks: no way '%s'\n", name);
	return 2;
}
