/* SPDX-License-Identifier: MIT */
/*
 * hook.h - the record that a hook writes on.
 */
#ifndef PRELOAD_HOOK_H
#define PRELOAD_HOOK_H

#include "collector/session/thread.h"

/* First event of a thread: gives it a record and sees to it that its end is
 * noticed.  NULL: the call is only forwarded.  Keeps errno. */
struct thread *hook_thread_enter(void);

/* The same where an allocator's lock may be held: of a call that is allowed in
 * a handler of signals, or that allocators make.  What has to ask the C
 * library, which may allocate, waits for the thread's first call stack. */
struct thread *hook_thread_enter_lightly(void);

/* The same of a call that is never our own: one that comes while this thread is
 * inside the profiler is a signal handler's, and counted as missed. */
struct thread *hook_thread_enter_counted(void);

/* This thread's record.  NULL while the thread is inside the profiler, after
 * its end, and where no record can be had. */
static inline struct thread *hook_thread(void)
{
	struct thread *thread = thread_self;

	return likely(thread_records(thread)) ? thread
					      : hook_thread_enter_counted();
}

/* The same for functions that the profiler calls too, of which it hears
 * nothing. */
static inline struct thread *hook_thread_of_any(void)
{
	struct thread *thread = thread_self;

	return likely(thread_records(thread)) ? thread : hook_thread_enter();
}

/* The same where an allocator's lock may be held. */
static inline struct thread *hook_thread_of_any_lightly(void)
{
	struct thread *thread = thread_self;

	return likely(thread_records(thread)) ? thread
					      : hook_thread_enter_lightly();
}

/* This thread is our own and busy, but calls into a library that runs others'
 * code: what is allocated there others free, so that it counts for this record.
 * One thread; NULL no longer. */
void hook_lend(struct thread *thread);

/* That record, on that thread alone; else NULL. */
struct thread *hook_lent(void);

/* A call that the program made leaves no event, though there is room and a
 * window is open: it is counted, and the closing lines say so. */
void hook_unfollowed(void);

/* thread_self, of who ends the recording; who had nothing to record gets a
 * record if there are steps, which may be of a thread that is gone. */
struct thread *hook_thread_at_end(const struct session *session);

#endif
