/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - the call stack of an event, taken by libunwind.
 *
 * libunwind is loaded in our constructor, where the user asks for stacks, and
 * never linked: it brings functions of its own for exceptions, which must not
 * come before the program's.  Its fast trace keeps a table for each thread of
 * how each return address is left; what isn't in it yet costs some
 * microseconds and a walk over the loader's list.
 *
 * A stack is taken on the thread's own stack alone, with room to spare: a
 * signal handler's small one, and those that a program switches by itself, give
 * none.  Whatever can't be taken is counted (session_header.stacks.untaken).
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include "collector/control/stack_choice.h"
#include "collector/session/thread.h"

/* In our constructor: loads libunwind if the user wants stacks. */
void unwind_prepare(void);

/* A recording begins: the families (enum stack_family) that take stacks. */
uint32_t unwind_start(struct session *session);

/* The calling thread has got its record. */
void unwind_thread_entered(struct thread *thread);

/* The id of the present stack, without our own frames; 0 none.  The thread is
 * THREAD_FILLING.  Keeps errno. */
uint32_t unwind_take(const struct thread *thread);

/* Code is about to be unmapped. */
void unwind_code_goes(void);

/* In a forked child. */
void unwind_forget(void);

#endif
