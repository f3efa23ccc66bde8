/* SPDX-License-Identifier: MIT */
/*
 * python_calls.h - calls of Python begin and end on this thread.
 */
#ifndef PRELOAD_PYTHON_CALLS_H
#define PRELOAD_PYTHON_CALLS_H

#include "collector/session/python_stack.h"
#include "preload/process/hook.h"

/* The cold half of what follows. */
struct python_stack *python_calls_prepare(struct thread *thread,
					  uint32_t window);

/* The thread's stack for this window, made or emptied where it isn't yet.  NULL
 * there is none; *is_new: what the thread is in should be put on it. */
static inline struct python_stack *
python_calls_here(struct thread *thread, uint32_t window, bool *is_new)
{
	struct python_stack *stack = NULL;

	if (likely(thread->python_at))
		stack = session_at(load_relaxed(&session_here),
				   thread->python_at);
	*is_new = !stack || stack->window != window;
	return likely(!*is_new) ? stack : python_calls_prepare(thread, window);
}

/* A call of `code`, drawn as `name`, in `frame` of the interpreter's, or made
 * by it.  What an import calls is drawn if it takes as long as
 * python_calls_start() was told. */
void python_call_begins(struct python_stack *stack, uint32_t code,
			uint32_t name, bool is_import, const void *frame);
void python_calls_start(uint64_t least_ticks);

/* The innermost call of `code` ends, and what was called inside. */
void python_call_ends(struct thread *thread, struct python_stack *stack,
		      uint32_t code);

/* What the thread does is called in `frame`, NULL by nobody: all calls that it
 * made last end.  False: it isn't among them, so all have ended. */
bool python_calls_keep(struct thread *thread, struct python_stack *stack,
		       const void *frame);

/* The thread's record was another's. */
void python_calls_thread_entered(struct thread *thread);

/* Calls that other threads are in are forgotten: nobody tells of their ends.
 * Returns how many they were.  Under the GIL. */
unsigned int python_calls_leave(struct session *session);

/* All that are open end now: the window does, or nobody tells us more. */
void python_calls_end(struct thread *thread);

#endif
