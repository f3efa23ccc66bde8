/* SPDX-License-Identifier: MIT */
/*
 * thread_hooks.c - pthread_create() and C11's thrd_create(): a thread gets
 * its timer and its record as it begins.
 *
 * Where samples or waits are wanted a thread begins in a function of ours, and
 * goes on to the program's.  What that one is waits in one of a few places:
 * with all of them taken the thread begins as if we weren't there, and the
 * writer finds it.
 */
#include "collector/session/gate.h"
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
	thrd_start_t run_c11;
	void *arg;
} places[PLACES];

static void arrive(struct thread_begin *mine)
{
	const int saved = errno;

	/* RELEASE pairs with ACQUIRE in take_place(): what was here is read. */
	store_release(&mine->is_taken, false);
	hook_thread();
	if (sampler_is_on()) {
		sample_stack_thread_begins();
		sampler_thread_begins();
	}
	errno = saved;
}

static void *begin(void *place)
{
	const struct thread_begin *mine = place;
	void *(*const run)(void *) = mine->run;
	void *const arg = mine->arg;

	arrive(place);
	return run(arg);
}

static int begin_c11(void *place)
{
	const struct thread_begin *mine = place;
	const thrd_start_t run = mine->run_c11;
	void *const arg = mine->arg;

	arrive(place);
	return run(arg);
}

static COLD struct thread_begin *take_place(void)
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

/* NULL: the thread is none of ours to follow, or there are too many. */
static inline struct thread_begin *place_of(const void *caller)
{
	if (likely(!sampler_is_on() && !(gate_bits() & GATE_WAIT)) ||
	    unwind_is_ours((uint64_t)(uintptr_t)caller))
		return NULL;
	return take_place();
}

static int created(struct thread_begin *place, int error)
{
	if (error)
		store_release(&place->is_taken, false);
	return error;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *arg)
{
	struct thread_begin *place;

	/* From now on a thread may call what another one waits for inside of
	 * dlopen(): nothing is looked up any more. */
	if (unlikely(!real.read))
		real_look_late();
	if (unlikely(!real.pthread_create))
		return EAGAIN;
	place = place_of(__builtin_return_address(0));
	if (likely(!place))
		return real.pthread_create(thread, attributes, run, arg);
	place->run = run;
	place->arg = arg;
	return created(place,
		       real.pthread_create(thread, attributes, begin, place));
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *arg)
{
	struct thread_begin *place;

	if (unlikely(!real.thrd_create))
		real_look_late();
	if (unlikely(!real.thrd_create))
		return thrd_error;
	place = place_of(__builtin_return_address(0));
	if (likely(!place))
		return real.thrd_create(thread, run, arg);
	place->run_c11 = run;
	place->arg = arg;
	return created(place, real.thrd_create(thread, begin_c11, place));
}
