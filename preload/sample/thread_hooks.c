/* SPDX-License-Identifier: MIT */
/*
 * thread_hooks.c - pthread_create(): a thread that begins gets its timer.
 *
 * Where samples are wanted a thread begins in a function of ours, which
 * jumps to the program's.  What that one is waits in one of a few places: with
 * all of them taken the thread begins as if we weren't there, and the writer
 * finds it.
 */
#include "preload/process/hook.h"
#include "preload/process/real.h"
#include "preload/sample/sample_stack.h"
#include "preload/sample/sampler.h"
#include "preload/stack/unwind.h"
#include <errno.h>

#define PLACES 256u

static struct thread_begin {
	_Atomic bool is_taken;
	void *(*run)(void *);
	void *arg;
} places[PLACES];

static void *begin(void *place)
{
	struct thread_begin *mine = place;
	void *(*const run)(void *) = mine->run;
	void *const arg = mine->arg;
	const int saved = errno;

	/* RELEASE pairs with ACQUIRE in take_place(): what was here is read. */
	store_release(&mine->is_taken, false);
	if (sampler_is_on()) {
		hook_thread();
		sample_stack_thread_begins();
		sampler_thread_begins();
	}
	errno = saved;
	return run(arg);
}

static struct thread_begin *take_place(void)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		bool is_taken = false;

		/* ACQUIRE pairs with RELEASE in begin(). */
		if (atomic_compare_exchange_strong_explicit(
			    &places[i].is_taken, &is_taken, true,
			    memory_order_acquire, memory_order_relaxed))
			return &places[i];
	}
	return NULL;
}

static COLD int create(pthread_t *thread, const pthread_attr_t *attributes,
		       void *(*run)(void *), void *arg)
{
	struct thread_begin *place = take_place();
	int rc;

	if (!place)
		return real.pthread_create(thread, attributes, run, arg);
	place->run = run;
	place->arg = arg;
	rc = real.pthread_create(thread, attributes, begin, place);
	if (rc)
		store_release(&place->is_taken, false);
	return rc;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *arg)
{
	const uint64_t caller =
		(uint64_t)(uintptr_t)__builtin_return_address(0);

	/* From now on a thread may call what another one waits for inside of
	 * dlopen(): nothing is looked up any more. */
	if (unlikely(!real.read))
		real_look_late();
	if (unlikely(!real.pthread_create))
		return EAGAIN;
	if (unlikely(sampler_is_on()) && !unwind_is_ours(caller))
		return create(thread, attributes, run, arg);
	return real.pthread_create(thread, attributes, run, arg);
}
