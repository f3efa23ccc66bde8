/* SPDX-License-Identifier: MIT */
/*
 * sample_stack.h - the call stack of a thread that a signal has interrupted.
 *
 * The handler may have interrupted anything: malloc with its lock, the loader,
 * libunwind itself.  So nothing here takes a lock that its thread, or one that
 * waits for it, may hold:
 *
 *	libunwind's list of loaded files comes from dl_iterate_phdr(), which
 *	takes the loader's lock; ours answers from the loader's table that needs
 *	none, everywhere, for libunwind has a lock of its own meanwhile; before
 *	glibc 2.35 in the handler alone, from a copy.
 *	Its thread-local memory is touched when the thread begins.  Where the
 *	loader may have to enlarge it again and the thread is in the C library,
 *	maybe in malloc, there is no stack.
 *	A thread that is in libunwind on its own account has no stack either.
 *
 * A sample without a stack has the innermost function alone, and is counted.
 */
#ifndef PRELOAD_SAMPLE_STACK_H
#define PRELOAD_SAMPLE_STACK_H

#include "collector/session/thread.h"
#include <ucontext.h>

/* Once, in our constructor. */
void sample_stack_prepare(void);

/* On a thread that begins. */
void sample_stack_thread_begins(void);

/* The writer, each pass: renews the copy of the list of loaded files. */
void sample_stack_poll(struct session *session);

/* What `context` interrupted, as an event's code and stack.  The thread is
 * THREAD_SAMPLING; beside: the handler has left for another stack, from which
 * no frame leads back. */
struct sample_place {
	uint64_t code;
	uint32_t stack;
};
struct sample_place sample_stack_take(struct session *session,
				      struct thread *thread,
				      const ucontext_t *context,
				      bool is_beside);

#endif
