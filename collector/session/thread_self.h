/* SPDX-License-Identifier: MIT */
/*
 * thread_self.h - what the calling thread is to the profiler, apart from what
 * its record holds (collector/session/thread.h).
 */
#ifndef COLLECTOR_THREAD_SELF_H
#define COLLECTOR_THREAD_SELF_H

#include "collector/system/base.h"

struct thread;

/* The record of the calling thread: NULL before its first event, while it is
 * inside the profiler, and after its end. */
extern _Thread_local struct thread *thread_self;

/* What thread_self is where there is no record to write on.  BUSY: cold work of
 * ours, whose calls are not the program's; and threads of ours.  FILLING: a
 * hook writes an event, so that another hook runs in a signal handler.  OVER:
 * the thread's record was given back.  The last two are counted
 * (missed_calls). */
#define THREAD_BUSY	((struct thread *)1)
#define THREAD_FILLING	((struct thread *)2)
#define THREAD_OVER	((struct thread *)3)
/* As FILLING, in the handler that takes a sample: no lock is taken there. */
#define THREAD_SAMPLING ((struct thread *)4)

static inline bool thread_records(const struct thread *thread)
{
	return (uintptr_t)thread > 4;
}

/* Keep hooks out while the profiler itself works: returns what thread_self
 * was, to be handed back to thread_unbusy(). */
static inline struct thread *thread_busy(void)
{
	struct thread *was = thread_self;

	thread_self = THREAD_BUSY;
	atomic_signal_fence(memory_order_seq_cst);
	return was;
}

/* The same while a hook writes an event. */
static inline struct thread *thread_fill(void)
{
	struct thread *was = thread_self;

	thread_self = THREAD_FILLING;
	atomic_signal_fence(memory_order_seq_cst);
	return was;
}

static inline void thread_unbusy(struct thread *was)
{
	atomic_signal_fence(memory_order_seq_cst);
	thread_self = was;
}

#endif
