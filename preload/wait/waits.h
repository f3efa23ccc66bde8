/* SPDX-License-Identifier: MIT */
/*
 * waits.h - what threads wait for in calls of the C library.
 */
#ifndef PRELOAD_WAITS_H
#define PRELOAD_WAITS_H

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "collector/session/session.h"
#include "collector/session/thread_self.h"

/* The hooks lie together, by the linker: where nobody wants them, the loader
 * doesn't find them. */
#define WAIT_HOOK EXPORT __attribute__((section("wait_hooks")))
extern const char __start_wait_hooks[] __attribute__((visibility("hidden")));
extern const char __stop_wait_hooks[] __attribute__((visibility("hidden")));
/* Likewise those that are also wanted while a program's threads are watched. */
#define THREAD_WAIT_HOOK EXPORT __attribute__((section("thread_wait_hooks")))
extern const char __start_thread_wait_hooks[]
	__attribute__((visibility("hidden")));
extern const char __stop_thread_wait_hooks[]
	__attribute__((visibility("hidden")));

/* A recording begins in which waits of `least_ns` and longer are drawn. */
void waits_start(struct session *session, uint64_t least_ns);

/* False in work of our own, and in a handler that interrupted it. */
static inline bool waits_are_wanted(void)
{
	return unlikely(gate_bits() & GATE_WAIT) &&
	       (!thread_self || thread_records(thread_self));
}

/* Locks that are waited for; word for names. */
/* clang-format off */
#define WAIT_LOCKS(X)							\
	X(mutex,  "wait: pthread_mutex_lock")				\
	X(rdlock, "wait: pthread_rwlock_rdlock")			\
	X(wrlock, "wait: pthread_rwlock_wrlock")			\
	X(mtx,    "wait: mtx_lock")					\
	X(gil,    "wait: GIL")						\
	X(futex,  "wait: futex")
/* clang-format on */

enum wait_lock {
#define X(name, word) WAIT_LOCK_##name,
	WAIT_LOCKS(X)
#undef X
		WAIT_LOCK_COUNT
};

/* Who else has to do with it. */
struct wait_other {
	const void *object;
	uint32_t tid; /* 0: not known */
	uint32_t how; /* enum wait_how */
	uint32_t signals;
};

/* The wait for a lock is over. */
void waits_lock_ends(enum wait_lock lock, uint64_t start,
		     const struct wait_other *other);

/* The same where somebody may have signalled `object` since wakers_look() gave
 * `before`. */
void waits_woken(enum wait_lock lock, uint64_t start, const void *object,
		 uint64_t before);

/* The thread has got its record: who joins it learns its number. */
void waits_thread_entered(const struct thread *thread);

/* Python's GIL lies in these bytes: waits for it are named so, and drawn with
 * calls of Python too. */
void waits_know_gil(const char *around, size_t bytes);

/* In our constructor: what is called before the program reads or writes a file
 * while calls of Python are recorded, on whichever thread does. */
void waits_look_at_reads(void (*look)(void));

#endif
