/* SPDX-License-Identifier: MIT */
/* orphan.c - a process that is nobody's child; see orphan.h. */
#include "collector/system/orphan.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of each of the two processes. */
#define STACK_BYTES (1u << 20)

struct orphan {
	int (*run)(void *arg);
	void *arg;
	char *stack_end;
	int flags;
	volatile pid_t pid;
};

/* Between the program and the new process, in the program's memory, or in a
 * copy of it under valgrind and qemu, for which this is a fork.  Its end makes
 * the other one init's.  Some of valgrind's tools then write out what the copy
 * holds of the program's output, so it must have no descriptors. */
static int step_out(void *arg)
{
	struct orphan *orphan = arg;

	syscall(SYS_setsid);
	orphan->pid = clone(orphan->run, orphan->stack_end, orphan->flags,
			    orphan->arg);
	if (orphan->pid < 0)
		orphan->pid = -errno;
	syscall(SYS_close_range, 0, ~0u, 0);
	return 0;
}

pid_t orphan_start(int (*run)(void *arg), void *arg, bool shares)
{
	char *stack =
		mmap(NULL, (size_t)2 * STACK_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	struct orphan *orphan =
		mmap(NULL, sizeof(*orphan), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigset_t all, was;
	pid_t pid;

	if (stack == MAP_FAILED || orphan == MAP_FAILED) {
		pid = -ENOMEM;
		goto out;
	}
	*orphan = (struct orphan){run, arg, stack + STACK_BYTES,
				  shares ? CLONE_VM | CLONE_VFORK : 0, -ECHILD};
	/* The new one may end first: no handler of the program's runs there. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	/* No signal at its end, so the program doesn't hear of it. */
	pid = clone(step_out, stack + (size_t)2 * STACK_BYTES,
		    CLONE_VM | CLONE_VFORK, orphan);
	if (pid < 0) {
		pid = -errno;
	} else {
		waitpid(pid, NULL, __WALL);
		pid = orphan->pid;
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
out:
	if (stack != MAP_FAILED)
		munmap(stack, (size_t)2 * STACK_BYTES);
	if (orphan != MAP_FAILED)
		munmap(orphan, sizeof(*orphan));
	return pid;
}

bool orphan_call(int (*run)(void *arg), void *arg)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	sigset_t all, was;
	pid_t pid;

	if (stack == MAP_FAILED)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	pid = clone(run, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, arg);
	if (pid > 0)
		waitpid(pid, NULL, __WALL);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	munmap(stack, STACK_BYTES);
	return pid > 0;
}

bool orphan_is_ours(void)
{
	int takes_in = 0;

	prctl(PR_GET_CHILD_SUBREAPER, &takes_in, 0, 0, 0);
	return takes_in || getpid() == 1;
}
