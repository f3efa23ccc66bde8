/* SPDX-License-Identifier: MIT */
/*
 * hot_path.c - a thread that may make no system call any more goes on working.
 *
 * After a warm-up each call into the kernel is answered by SIGSYS.  Blocks come
 * from the allocator's own lists, locks are free, all of it inside one region
 * with a team of one: whatever enters the kernel is not the program's doing.
 * Built with OWN_MALLOC it brings an allocator of its own and counts who calls
 * it meanwhile.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "traceprof.h"

enum { ROUNDS = 150 };

#ifdef OWN_MALLOC
static _Alignas(64) char pool[64 << 20];
static size_t used;
static int calls;

void *malloc(size_t size)
{
	const size_t start = __atomic_fetch_add(
		&used, (size + 63) & ~(size_t)63, __ATOMIC_RELAXED);

	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return start + size > sizeof(pool) ? NULL : pool + start;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

void free(void *block)
{
	(void)block;
}
#else
static int calls;
#endif

static long by_hand(long number, long a, long b, long c)
{
	long result;

#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2)
			 : "memory");
	result = x0;
#endif
	return result;
}

static void on_call(int number, siginfo_t *info, void *context)
{
	static const char text[] = "system call on the hot path\n";

	(void)number;
	(void)info;
	(void)context;
	/* write is allowed; _exit would be hooked. */
	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(4);
	by_hand(SYS_exit_group, 3, 0, 0);
}

static void forbid_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	/* Not by the C library: where the library sees it, it stops. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    by_hand(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
		    (long)&program)) {
		perror("hot_path");
		exit(126);
	}
}

static int work(int rounds)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		void *volatile block;

		traceprof_push("on the hot path");
#pragma omp critical
		sum += 1;
#pragma omp taskwait
		traceprof_pop();
#ifndef OWN_MALLOC
		block = malloc(200);
		free(block);
#endif
		(void)block;
	}
	return sum;
}

static int forbidden_work(void)
{
	static char said[100];
	int before, sum, length;

	work(10);
	/* The writer settles down; only this thread is forbidden anything. */
	usleep(300 * 1000);
	forbid_calls();
	before = calls;
	errno = 77;
	sum = work(ROUNDS);
	length = snprintf(said, sizeof(said), "%d rounds, errno %d, %d calls\n",
			  sum, errno, calls - before);
	return write(1, said, (size_t)length) != length;
}

int main(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};

	action.sa_sigaction = on_call;
	sigaction(SIGSYS, &action, NULL);
#pragma omp parallel num_threads(1)
	{
		const int status = forbidden_work();

		/* Any other end needs the kernel for more than that. */
		by_hand(SYS_exit_group, status, 0, 0);
	}
	return 1;
}
