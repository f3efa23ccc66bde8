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
#include "preload/process/families.h"
#include "preload/process/life.h"
#include "preload/process/real.h"
#include <errno.h>
#include <pthread.h>

static _Thread_local struct {
	uint16_t depth;
	bool was_refused;
} asked __attribute__((tls_model("initial-exec")));

EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
	int rc, cancels;

	if (unlikely(gate_bits() == GATE_UNDECIDED))
		life_decide();
	if (unlikely(!real.pthread_getattr_np))
		return ENOSYS;
	asked.depth++;
	rc = real.pthread_getattr_np(thread, attributes);
	asked.depth--;
	if (unlikely(asked.was_refused) && !asked.depth) {
		const int saved = errno;

		asked.was_refused = false;
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
		if (thread_records(thread_self))
			families_thread_asked();
		pthread_setcancelstate(cancels, &cancels);
		errno = saved;
	}
	return rc;
}

COLD bool own_stack_find(void **low, size_t *bytes)
{
	pthread_attr_t attributes;
	bool is_found;

	asked.was_refused = asked.depth > 0;
	if (asked.depth || !real.pthread_getattr_np ||
	    real.pthread_getattr_np(pthread_self(), &attributes))
		return false;
	is_found = !pthread_attr_getstack(&attributes, low, bytes);
	pthread_attr_destroy(&attributes);
	return is_found;
}
