/* SPDX-License-Identifier: MIT */
/*
 * spare_stack.h - a stack for what needs more than the program's may have left.
 *
 * Our work at the start and the end of a recording is done inside a call of the
 * program's: in a handler on 8 KiB, say, or in a coroutine.
 */
#ifndef COLLECTOR_SPARE_STACK_H
#define COLLECTOR_SPARE_STACK_H

#include "collector/system/base.h"

/* Whether so much is left of the stack that we are on.  Of another thread's
 * than the main one, and of one that the program switched to, it is known only
 * that it goes on to a page which can't be read.  Any thread, signal handlers
 * too; 3 system calls, one more for each page on such a thread. */
bool spare_stack_is_needless(size_t bytes);

/* Runs it on a new stack of that size, with a page below it that faults, or
 * here where there is no memory.  What the program's signals find meanwhile is
 * that stack, not their own: the kernel would think that nobody is on it. */
void spare_stack_run(size_t bytes, void (*run)(void *), void *arg);

/* The same where so much isn't left.  Else it stays: Python and libunwind know
 * the program's stack. */
void spare_stack_if_needed(size_t bytes, void (*run)(void *), void *arg);

#endif
