/* SPDX-License-Identifier: MIT */
/*
 * call_hooks.c - prctl() and syscall(), by which a program forbids itself
 * system calls, changes what one thread may do, or forks or ends past the C
 * library.
 *
 * A seccomp filter may forbid what finishing a trace takes, and would then kill
 * the program at its end, by our doing.  So the recording ends before any
 * filter is in force: life_confine().  The programs that are known to install
 * one on themselves (browsers' renderers, OpenSSH, Wine, stress-ng) look at
 * arguments or allow a handful of calls, so nothing would be won by reading the
 * filter. One that is installed without the C library, or in which the program
 * was started, is not seen.
 *
 * What changes one thread alone, or is refused where there are several, is
 * alone_hooks.c's.
 *
 * All other calls are jumped to: a child that shares our stack, or has a new
 * one, must not come back into a frame of ours.
 */
#include "collector/system/loader.h"
#include "preload/process/alone_hooks.h"
#include "preload/process/children.h"
#include "preload/process/families.h"
#include "preload/process/life.h"
#include "preload/process/real.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Before the C library's own is known, in the loader. */
static COLD long call_kernel(long number, long a, long b, long c, long d,
			     long e, long f)
{
	long result;

#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	result = x0;
#endif
	if (result < 0 && result >= -4095) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/* A mode of seccomp is about to be entered. */
static COLD void confine(bool is_strict, const void *filter)
{
	/* Without a filter it only asks whether the kernel knows any. */
	if (is_strict || filter)
		life_confine("seccomp");
}

static COLD long fork_by_hand(long number, long a, long b, long c, long d,
			      long e)
{
	const int saved = errno;
	long pid;

	loader_before_fork();
	errno = saved;
	pid = real.syscall(number, a, b, c, d, e, 0);
	if (pid) {
		loader_after_fork();
	} else {
		loader_forget();
		children_born();
	}
	return pid;
}

/* The kernel looks at a mask of signals before it refuses what is to be done
 * with it.  Hardly a filter of calls kills for that one. */
static COLD bool is_readable(long address)
{
	const int saved = errno;
	bool is;

	real.syscall(SYS_rt_sigprocmask, ~0L, address & ~7L, 0, 8, 0, 0);
	is = errno != EFAULT;
	errno = saved;
	return is;
}

/* The unwinder asks by a write into a pipe, of which it has none here
 * (preload/stack/unwind.c). */
static COLD long ask_memory(long address)
{
	if (is_readable(address))
		return 1;
	errno = EFAULT;
	return -1;
}

static inline bool is_fork(long number, long flags, long stack)
{
#if defined(__x86_64__)
	if (number == SYS_fork)
		return true;
#endif
	return number == SYS_clone && !(flags & CLONE_VM) && !stack;
}

/* The arguments may be anywhere, and it is the kernel's to say so. */
static COLD bool is_fork_3(long at, long bytes)
{
	struct clone_args args = {0};
	const size_t known = min_u64((uint64_t)bytes, sizeof(args));

	if (known < CLONE_ARGS_SIZE_VER0 || !is_readable(at) ||
	    !is_readable(at + (long)known - 1))
		return false;
	memcpy(&args, (const void *)at, known);
	return !(args.flags & CLONE_VM) && !args.stack;
}

/* Under names of our own, since the headers have them with "...". */
EXPORT long call_syscall(long number, long a, long b, long c, long d, long e,
			 long f) __asm__("syscall");
EXPORT int call_prctl(int option, unsigned long a, unsigned long b,
		      unsigned long c, unsigned long d) __asm__("prctl");

long call_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (unlikely(!real.syscall))
		return call_kernel(number, a, b, c, d, e, f);
	if (unlikely(is_fork(number, a, b)) ||
	    (unlikely(number == SYS_clone3) && is_fork_3(a, b)))
		return fork_by_hand(number, a, b, c, d, e);
	if (unlikely(number == SYS_seccomp) &&
	    (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER))
		confine(a == SECCOMP_SET_MODE_STRICT, (const void *)c);
	if (unlikely(number == SYS_write && (int)a == -1) &&
	    families_are_asking(__builtin_return_address(0)))
		return ask_memory(b);
	if (unlikely(number == SYS_exit_group))
		life_end();
	if (unlikely(alone_concerns(number)))
		return alone_syscall(number, a, b, c);
	if (number == SYS_futex &&
	    unlikely(gate_bits() & (GATE_WAIT | GATE_THREAD_WATCH)))
		return families_futex(a, b, c, d, e, f);
	return real.syscall(number, a, b, c, d, e, f);
}

int call_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
	       unsigned long d)
{
	if (unlikely(!real.prctl))
		return (int)call_kernel(SYS_prctl, option, (long)a, (long)b,
					(long)c, (long)d, 0);
	if (unlikely(option == PR_SET_SECCOMP))
		confine(a == SECCOMP_MODE_STRICT, (const void *)b);
	if (unlikely(option == PR_SET_SECUREBITS))
		return (int)alone_syscall(SYS_prctl, option, (long)a, (long)b);
	return real.prctl(option, a, b, c, d);
}
