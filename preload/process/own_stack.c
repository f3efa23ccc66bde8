/* SPDX-License-Identifier: MIT */
/*
 * own_stack.c - asks pthread_getattr_np(); see own_stack.h.
 *
 * That allocates while it holds a lock of the thread's.  Where this is the
 * first block of a thread, as in each one of Java's, our hook of realloc() asks
 * the same and would wait for itself: so it is known who is in there.
 */
#include "preload/process/own_stack.h"

#include "collector/session/gate.h"
#include "collector/session/thread_self.h"
#include "preload/process/families.h"
#include "preload/process/life.h"
#include "preload/process/real.h"
#include <errno.h>
#include <pthread.h>

/* Threads that are in there at a time; of further ones nobody asks. */
#define ASKED_MAX 32u

static struct {
	_Atomic uint64_t who; /* pthread_self(), 0 nobody */
	/* Its own; what comes too late is asked at its first stack. */
	_Atomic bool was_refused;
} asked[ASKED_MAX];

static _Atomic uint32_t unlisted; /* threads that found no place */

/* The place of the calling thread; ASKED_MAX: it has none. */
static uint32_t place_of(uint64_t who)
{
	uint32_t at = 0;

	while (at < ASKED_MAX && load_relaxed(&asked[at].who) != who)
		at++;
	return at;
}

static uint32_t enter(void)
{
	const uint64_t who = (uint64_t)pthread_self();

	for (uint32_t at = 0; at < ASKED_MAX; at++) {
		uint64_t nobody = 0;

		if (!load_relaxed(&asked[at].who) &&
		    atomic_compare_exchange_strong_explicit(
			    &asked[at].who, &nobody, who, memory_order_relaxed,
			    memory_order_relaxed)) {
			store_relaxed(&asked[at].was_refused, false);
			return at;
		}
	}
	add_relaxed(&unlisted, 1);
	return ASKED_MAX;
}

/* True: it was asked for its stack meanwhile. */
static bool leave(uint32_t at)
{
	bool was_refused;

	if (at == ASKED_MAX) {
		add_relaxed(&unlisted, -1);
		return false;
	}
	was_refused = load_relaxed(&asked[at].was_refused);
	store_relaxed(&asked[at].who, 0);
	return was_refused;
}

EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
	uint32_t at;
	int rc, cancels, saved;

	if (unlikely(gate_bits() == GATE_UNDECIDED))
		life_decide();
	if (unlikely(!real.pthread_getattr_np))
		return ENOSYS;
	at = enter();
	rc = real.pthread_getattr_np(thread, attributes);
	if (likely(!leave(at)) || !thread_records(thread_self))
		return rc;
	saved = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
	families_thread_asked();
	pthread_setcancelstate(cancels, &cancels);
	errno = saved;
	return rc;
}

COLD bool own_stack_find(void **low, size_t *bytes)
{
	const uint32_t at = place_of((uint64_t)pthread_self());
	pthread_attr_t attributes;
	bool is_found;

	if (at < ASKED_MAX)
		store_relaxed(&asked[at].was_refused, true);
	if (at < ASKED_MAX || load_relaxed(&unlisted) ||
	    !real.pthread_getattr_np ||
	    real.pthread_getattr_np(pthread_self(), &attributes))
		return false;
	is_found = !pthread_attr_getstack(&attributes, low, bytes);
	pthread_attr_destroy(&attributes);
	return is_found;
}

COLD void own_stack_forget(void)
{
	for (uint32_t at = 0; at < ASKED_MAX; at++)
		store_relaxed(&asked[at].who, 0);
	store_relaxed(&unlisted, 0);
}
