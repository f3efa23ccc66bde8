/* SPDX-License-Identifier: MIT */
/*
 * sandbox.c - runs a seccomp filter over the system calls that we make.
 *
 * A filter is a small program for a machine with one accumulator that gets the
 * call's number and says what becomes of it.  Whatever in it looks at more than
 * number and architecture, or is of a kind that filters hardly use, makes the
 * answer no.
 */
#include "preload/process/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#else
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* What the writer and the end of a recording ask the kernel for, the C
 * library's part in it included. */
static const int calls[] = {
	SYS_clone,
	SYS_clone3,
	SYS_close,
	SYS_exit,
	SYS_exit_group,
	SYS_faccessat,
	SYS_fallocate,
	SYS_fcntl,
	SYS_flock,
	SYS_fstat,
	SYS_ftruncate,
	SYS_futex,
	SYS_getdents64,
	SYS_getpid,
	SYS_getrusage,
	SYS_gettid,
	SYS_kill,
	SYS_lseek,
	SYS_madvise,
	SYS_mkdirat,
	SYS_mmap,
	SYS_mprotect,
	SYS_munmap,
	SYS_newfstatat,
	SYS_openat,
	SYS_ppoll,
	SYS_prctl,
	SYS_pread64,
	SYS_pwrite64,
	SYS_read,
	SYS_readlinkat,
	SYS_renameat,
	SYS_rseq,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigtimedwait,
	SYS_sched_setaffinity,
	SYS_set_robust_list,
	SYS_statfs,
	SYS_unlinkat,
	SYS_write,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
#if defined(__x86_64__)
	SYS_access,
	SYS_mkdir,
	SYS_open,
	SYS_poll,
	SYS_readlink,
	SYS_rename,
	SYS_stat,
	SYS_unlink,
#endif
};

/* What a jump decides; the accumulator's value is `value`. */
static bool is_taken(uint16_t operation, uint32_t value, uint32_t operand)
{
	switch (operation) {
	case BPF_JEQ: return value == operand;
	case BPF_JGT: return value > operand;
	case BPF_JGE: return value >= operand;
	default: return value & operand; /* BPF_JSET */
	}
}

/* The accumulator after an instruction that loads or masks.  False: of no kind
 * that is known here. */
static bool compute(const struct sock_filter *at, int number, uint32_t *value)
{
	switch (at->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		if (at->k == offsetof(struct seccomp_data, nr))
			*value = (uint32_t)number;
		else if (at->k == offsetof(struct seccomp_data, arch))
			*value = OUR_ARCH;
		else
			return false;
		return true;
	case BPF_LD | BPF_IMM: *value = at->k; return true;
	case BPF_ALU | BPF_AND | BPF_K: *value &= at->k; return true;
	default: return false;
	}
}

/* Jumps go forward only, so this ends. */
static bool lets(const struct sock_filter *filter, uint64_t count, int number)
{
	uint32_t value = 0;

	for (uint64_t i = 0; i < count; i++) {
		const struct sock_filter *at = &filter[i];

		if (at->code == (BPF_RET | BPF_K))
			return (at->k & SECCOMP_RET_ACTION_FULL) ==
				       SECCOMP_RET_ALLOW ||
			       (at->k & SECCOMP_RET_ACTION_FULL) ==
				       SECCOMP_RET_LOG;
		if (at->code == (BPF_JMP | BPF_JA))
			i += at->k;
		else if (BPF_CLASS(at->code) == BPF_JMP &&
			 BPF_SRC(at->code) == BPF_K)
			i += is_taken(BPF_OP(at->code), value, at->k) ? at->jt
								      : at->jf;
		else if (!compute(at, number, &value))
			return false;
	}
	return false;
}

bool sandbox_lets_us(const struct sock_filter *filter, unsigned int count)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!lets(filter, count, calls[i]))
			return false;
	}
	return true;
}

/* Copies memory of our own that may not be there: 0 or -errno. */
static int copy(void *to, const void *from, size_t bytes)
{
	const struct iovec here = {to, bytes};
	const struct iovec there = {(void *)(uintptr_t)from, bytes};
	const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);

	if (got < 0)
		return -errno;
	return (size_t)got == bytes ? 0 : -EFAULT;
}

int sandbox_judge(const void *program)
{
	struct sock_fprog head;
	struct sock_filter *filter;
	size_t bytes;
	int rc = copy(&head, program, sizeof(head));

	if (rc)
		return rc == -EFAULT ? rc : 0;
	bytes = head.len * sizeof(*filter);
	if (!bytes || head.len > BPF_MAXINSNS)
		return -EFAULT;
	filter = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (filter == MAP_FAILED)
		return 0;
	rc = copy(filter, head.filter, bytes);
	if (!rc)
		rc = sandbox_lets_us(filter, head.len);
	else if (rc != -EFAULT)
		rc = 0;
	munmap(filter, bytes);
	return rc;
}
