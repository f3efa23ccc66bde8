/* SPDX-License-Identifier: MIT */
/*
 * thread_watch.h - a program whose threads work, and which does nothing else
 * that is recorded: a pool of std::thread, Eigen's.  Its recording begins when
 * it has begun a thread and used two seconds of processor time.
 *
 * Nothing of ours runs in a process that is only watched, so it is looked at
 * where the first thread waits for the others, at most a hundred times a
 * second.
 */
#ifndef PRELOAD_THREAD_WATCH_H
#define PRELOAD_THREAD_WATCH_H

#include "collector/session/gate.h"
#include "collector/session/session.h"
#include <pthread.h>
#include <stdbool.h>
#include <threads.h>

/* Why it is recorded. */
#define WATCHED_FOR_HEAP    "two seconds of processor time, and allocations"
#define WATCHED_FOR_THREADS "two seconds of processor time, and threads"

static inline bool thread_watch_is_on(void)
{
	return unlikely(gate_bits() & GATE_THREAD_WATCH);
}

/* A process is watched: in it no thread was begun yet. */
void thread_watch_start(void);

/* The program begins a thread; any thread. */
void thread_watch_created(void);

/* A wait begins; any thread, but for what an allocator or a handler of
 * signals calls.  May begin the recording.  Keeps errno. */
void thread_watch_look(void);

/* The same of a system call, which an allocator with locks of its own makes. */
void thread_watch_look_by_futex(void);

/* Those that, on the first thread, look ten times a second. */
int thread_watch_join(pthread_t thread, void **value);
int thread_watch_thrd_join(thrd_t thread, int *result);

/* A recording has begun.  A note, if it was for one of the reasons above. */
void thread_watch_begun(void);

/* The program has begun a thread, and nothing that is drawn may be all that it
 * does: what the kernel counts of its threads is wanted. */
bool thread_watch_wants_counts(const struct session *session);

#endif
