/* SPDX-License-Identifier: MIT */
/*
 * confined.h - a program that forbids itself system calls.
 */
#ifndef CONFINED_H
#define CONFINED_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From here on what this thread may do is decided by these instructions. */
static inline void confined_enter(struct sock_filter *filter, size_t count)
{
	const struct sock_fprog program = {
		.len = (unsigned short)count,
		.filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		_exit(126);
}

/* One call has another answer than all the rest. */
static inline void confined_call(unsigned int call, unsigned int answer,
				 unsigned int rest)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, rest),
	};

	confined_enter(filter, sizeof(filter) / sizeof(filter[0]));
}

#endif
