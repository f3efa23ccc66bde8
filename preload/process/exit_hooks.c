/* SPDX-License-Identifier: MIT */
/*
 * exit_hooks.c - finishes the trace where no destructor would run.
 *
 * exit(), and a return from main, need no hook: our destructor runs after the
 * program's own and after every handler that the program registered.
 * quick_exit() runs its handlers last registered first: ours comes last.
 * _exit() and _Exit() run nothing and are wrapped; Python's multiprocessing
 * ends its workers so.  A vfork child's _exit() is only forwarded
 * (life_end() compares pids).
 */
#include "preload/process/exit_hooks.h"

#include "preload/process/life.h"
#include "preload/process/real.h"
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void leave(int status)
{
	life_end();
	if (real_resolve() == REAL_READY && real._exit)
		real._exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _exit(int status)
{
	leave(status);
}

EXPORT void _Exit(int status)
{
	leave(status);
}

void exit_hooks_start(void)
{
	at_quick_exit(life_end);
}

static __attribute__((destructor)) void end(void)
{
	life_end();
}
