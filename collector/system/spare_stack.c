/* SPDX-License-Identifier: MIT */
/* spare_stack.c - where we are, and somewhere else; see spare_stack.h. */
#include "collector/system/spare_stack.h"

#include "collector/system/page_size.h"
#include "collector/system/stack_switch.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No thread's stack is larger, other than one without a limit. */
#define LARGE_BYTES	 (UINT64_C(1) << 30)

#define KERNEL_SET_BYTES 8

struct run {
	void (*run)(void *);
	void *arg;
	stack_t *own; /* for signals, that the caller is on; NULL */
	const sigset_t *signals;
	const sigset_t *all;
};

static bool signal_stack(const stack_t *wanted, stack_t *before)
{
	return !syscall(SYS_sigaltstack, wanted, before);
}

/* The kernel reads the set before it looks at what to do with it. */
static bool is_readable(uintptr_t at)
{
	const long nothing = -1;
	const int saved = errno;
	const bool is = !syscall(SYS_rt_sigprocmask, nothing, at, NULL,
				 KERNEL_SET_BYTES) ||
			errno != EFAULT;

	errno = saved;
	return is;
}

/* The kernel puts random bytes above the first frame. */
static bool main_has(uintptr_t here, size_t bytes)
{
	const uintptr_t top = (uintptr_t)getauxval(AT_RANDOM);
	struct rlimit limit = {.rlim_cur = LARGE_BYTES};

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		limit.rlim_cur = LARGE_BYTES;
	return here < top && top - here + bytes < limit.rlim_cur;
}

/* The C library has what it knows of a thread at the top of its stack. */
static bool thread_has(uintptr_t here, size_t bytes)
{
	const uintptr_t top = (uintptr_t)pthread_self();
	size_t left = 0;

	if (here > top || top - here > LARGE_BYTES)
		return false;
	while (left < bytes && is_readable((here - left) & ~UINT64_C(7)))
		left += page_bytes();
	return left >= bytes;
}

bool spare_stack_is_needless(size_t bytes)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	stack_t own = {.ss_flags = SS_DISABLE};

	if (signal_stack(NULL, &own) && own.ss_flags & SS_ONSTACK)
		return here - (uintptr_t)own.ss_sp > bytes;
	return syscall(SYS_gettid) == getpid() ? main_has(here, bytes)
					       : thread_has(here, bytes);
}

static void run_on_it(void *arg)
{
	const struct run *run = arg;
	const stack_t none = {.ss_flags = SS_DISABLE};

	if (run->own)
		signal_stack(&none, NULL);
	pthread_sigmask(SIG_SETMASK, run->signals, NULL);
	run->run(run->arg);
	pthread_sigmask(SIG_SETMASK, run->all, NULL);
	if (run->own)
		signal_stack(run->own, NULL);
}

void spare_stack_run(size_t bytes, void (*run)(void *), void *arg)
{
	const size_t guard = page_bytes();
	stack_t own = {.ss_flags = SS_DISABLE};
	sigset_t all, was;
	struct run what = {
		.run = run, .arg = arg, .signals = &was, .all = &all};
	char *stack = mmap(NULL, guard + bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED) {
		run(arg);
		return;
	}
	mprotect(stack, guard, PROT_NONE);
	if (signal_stack(NULL, &own) && own.ss_flags & SS_ONSTACK) {
		own.ss_flags &= ~SS_ONSTACK;
		what.own = &own;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	stack_switch((uintptr_t)stack + guard + bytes, run_on_it, &what);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	munmap(stack, guard + bytes);
}

void spare_stack_if_needed(size_t bytes, void (*run)(void *), void *arg)
{
	if (spare_stack_is_needless(bytes))
		run(arg);
	else
		spare_stack_run(bytes, run, arg);
}
