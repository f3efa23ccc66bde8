/* SPDX-License-Identifier: MIT */
/*
 * python_hook.h - the interpreter tells us of calls, TRACEPROF_PYTHON=1.
 *
 * From 3.12 on by sys.monitoring, as a tool of our own; before by the profile
 * function of each thread.  Either is set when a window opens, by a call that
 * the main thread makes between two instructions of Python, and taken back by
 * the first call after the window: outside of windows there is none.  So they
 * are where calls have cost too much (python_bound.h).
 *
 * A profile function of the program's own is left alone.
 */
#ifndef PRELOAD_PYTHON_HOOK_H
#define PRELOAD_PYTHON_HOOK_H

#include "collector/session/thread.h"

/* In our constructor: looks for an interpreter, which is reason enough for a
 * recording; and once that has begun. */
void python_prepare(void);
bool python_is_prepared(void);
void python_await(void);

/* A recording begins.  True: calls are wanted, and can be had. */
bool python_start(struct session *session);

/* In our constructor, where the recording has begun before it. */
void python_start_late(struct session *session);

/* A thread reads a file: the interpreter may have started just now.  Any
 * thread; takes a lock of the interpreter's at most once. */
void python_look(void);

/* Writer, each pass: the interpreter may have started. */
void python_poll(struct session *session);

/* They are recorded at present. */
bool python_tells(void);

/* The recording ends: what is open on this thread. */
void python_finish(struct thread *thread);

/* In a forked child. */
void python_forget(void);

#endif
