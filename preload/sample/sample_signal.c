/* SPDX-License-Identifier: MIT */
/* sample_signal.c - sets a handler by the kernel; see sample_signal.h. */
#include "preload/sample/sample_signal.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MASK_BYTES 8

/* As the kernel has it. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static struct kernel_action before;
static bool is_installed;

/* Past the C library, which lets nobody have that signal.  Its own handler is
 * there since it made the first thread. */
bool sample_signal_install(void (*handler)(int, siginfo_t *, void *))
{
	struct kernel_action ours;

	if (is_installed)
		return true;
	if (syscall(SYS_rt_sigaction, SAMPLE_SIGNAL, NULL, &before,
		    MASK_BYTES) ||
	    before.handler == (void *)SIG_DFL)
		return false;
	ours = before;
	ours.handler = handler;
	ours.flags |= SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	ours.mask = ~UINT64_C(0);
	is_installed = !syscall(SYS_rt_sigaction, SAMPLE_SIGNAL, &ours, NULL,
				MASK_BYTES);
	return is_installed;
}

bool sample_signal_is_installed(void)
{
	return is_installed;
}

void sample_signal_hand_on(int number, siginfo_t *info, void *context)
{
	if (before.handler != (void *)SIG_DFL &&
	    before.handler != (void *)SIG_IGN)
		before.handler(number, info, context);
}
