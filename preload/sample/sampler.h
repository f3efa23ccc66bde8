/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - samples of what each thread does while a window is open.
 *
 * Each thread has a timer of its own processor time.  It fires on that thread
 * alone, while it runs, and the handler leaves one event with the call stack.
 * Timers run while the gate is open for samples, and not outside windows.
 *
 * The signal is the C library's own for setuid(): no program can block it, wait
 * for it, or set a handler by the library's functions, so none finds out.  What
 * isn't ours is handed on to the library's handler.  See docs/host.md for what
 * the kernel makes of calls that wait.
 */
#ifndef PRELOAD_SAMPLER_H
#define PRELOAD_SAMPLER_H

#include "collector/session/session.h"
#include <signal.h>

/* In our constructor, after libunwind was loaded: of a process that is to be
 * sampled. */
void sampler_prepare(void);

/* In a forked child whose recording has begun. */
void sampler_child_begun(void);

/* A session was made.  True: samples are wanted. */
bool sampler_start(struct session *session);

/* The writer, each pass: gives timers to threads that were not seen to begin,
 * and turns them as the gate says. */
void sampler_poll(void);

/* A thread that the program made begins in a function, or ends; on that
 * thread. */
void sampler_thread_begins(uintptr_t function);
void sampler_thread_ends(void);
bool sampler_is_on(void);

/* The thread has this stack for signals now, or none.  No signal of ours comes
 * while it has room for one frame of the kernel's alone. */
void sampler_stack_set(const stack_t *stack);

/* Where the handler runs on this thread; 0: nowhere yet. */
uintptr_t sampler_room(void);

/* The recording ends, or is another process's: timers are gone. */
void sampler_end(void);
void sampler_forget(void);

#endif
