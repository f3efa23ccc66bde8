/* SPDX-License-Identifier: MIT */
/*
 * python_greenlets.h - a thread that goes on in another chain of frames.
 *
 * Greenlets (gevent, Playwright, SQLAlchemy's asyncio) take turns on a thread,
 * and the interpreter tells nobody.  So once their module is there each call
 * knows the frame that it lies in, and what is told next is compared with it:
 * in another chain all calls end that are open, and those of that chain begin.
 * Until then nothing is asked of the interpreter for it.
 */
#ifndef PRELOAD_PYTHON_GREENLETS_H
#define PRELOAD_PYTHON_GREENLETS_H

#include "preload/python/python_api.h"
#include "preload/python/python_calls.h"

#define PYTHON_GREENLETS "greenlet" /* their module */

extern _Atomic bool python_has_greenlets __attribute__((visibility("hidden")));

/* Their module may have come before the window did. */
void python_greenlets_look(void);

/* The frame of what is told, which from 3.12 on has to be asked for; NULL not
 * known. */
static inline void *python_told_frame(void *frame)
{
	return frame || likely(!load_relaxed(&python_has_greenlets))
		       ? frame
		       : python_api.frame_now();
}

/* Who calls; NULL: nobody, or it isn't needed. */
static inline void *python_caller(void *frame)
{
	return frame && unlikely(load_relaxed(&python_has_greenlets))
		       ? python_frame_back(frame)
		       : NULL;
}

/* What is told is called in a frame, NULL by nobody, that this thread's calls
 * aren't of: they have ended. */
static inline bool python_has_switched(struct thread *thread,
				       struct python_stack *stack,
				       const void *caller)
{
	return unlikely(load_relaxed(&python_has_greenlets)) &&
	       !stack->beyond && !python_calls_keep(thread, stack, caller);
}

#endif
