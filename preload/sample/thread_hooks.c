/* SPDX-License-Identifier: MIT */
/*
 * thread_hooks.c - pthread_create(), C11's thrd_create(), and timer_create(),
 * whose timers may begin threads: a thread gets its timer and its record as it
 * begins.  And sigaltstack(), which tells nobody of the stack that it gets.
 *
 * Where samples or waits are wanted a thread begins in a function of ours, and
 * goes on to the program's.  What that one is waits in one of a few places:
 * with all of them taken the thread begins as if we weren't there, and the
 * writer finds it.
 */
#include "collector/session/gate.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/real.h"
#include "preload/sample/sample_room.h"
#include "preload/sample/sample_stack.h"
#include "preload/sample/sampler.h"
#include "preload/stack/unwind.h"
#include "preload/process/thread_watch.h"
#include <errno.h>

#define PLACES	256u
#define NOTICES 1024u

static struct thread_begin {
	_Atomic bool is_taken;
	void *(*run)(void *);
	thrd_start_t run_c11;
	void *arg;
} places[PLACES];

static void arrive_sampled(uintptr_t function)
{
	hook_thread();
	if (sampler_is_on()) {
		sample_stack_thread_begins();
		sampler_thread_begins(function);
	}
}

static void arrive(struct thread_begin *mine, uintptr_t function)
{
	const int saved = errno;

	/* RELEASE pairs with ACQUIRE in take_place(): what was here is read. */
	store_release(&mine->is_taken, false);
	arrive_sampled(function);
	errno = saved;
}

static void *begin(void *place)
{
	const struct thread_begin *mine = place;
	void *(*const run)(void *) = mine->run;
	void *const arg = mine->arg;

	arrive(place, (uintptr_t)run);
	return run(arg);
}

/* Not the program's: whoever waits for its last thread needn't wait for it. */
static void *begin_for_us(void *place)
{
	struct thread_begin *mine = place;
	void *(*const run)(void *) = mine->run;
	void *const arg = mine->arg;

	/* RELEASE pairs with ACQUIRE in take_place(): what was here is read. */
	store_release(&mine->is_taken, false);
	life_thread_is_background();
	return run(arg);
}

static int begin_c11(void *place)
{
	const struct thread_begin *mine = place;
	const thrd_start_t run = mine->run_c11;
	void *const arg = mine->arg;

	arrive(place, (uintptr_t)run);
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

static inline bool is_wanted(const void *caller)
{
	return unlikely(sampler_is_on() || gate_bits() & GATE_WAIT) &&
	       !unwind_is_ours((uint64_t)(uintptr_t)caller);
}

/* NULL: the thread is none of ours to follow, or there are too many. */
static inline struct thread_begin *place_of(const void *caller)
{
	return unlikely(is_wanted(caller)) ? take_place() : NULL;
}

/* A library that we call begins one: CUPTI. */
static inline bool is_for_us(const void *caller)
{
	return unlikely(thread_self == THREAD_BUSY) &&
	       !unwind_is_ours((uint64_t)(uintptr_t)caller);
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
	const void *caller = __builtin_return_address(0);
	const bool is_background = is_for_us(caller);
	struct thread_begin *place;

	/* From now on a thread may call what another one waits for inside of
	 * dlopen(): nothing is looked up any more. */
	if (unlikely(!real.read))
		real_look_late();
	if (unlikely(!real.pthread_create))
		return EAGAIN;
	if (!is_background && !unwind_is_ours((uint64_t)(uintptr_t)caller))
		thread_watch_created();
	place = is_background ? take_place() : place_of(caller);
	if (likely(!place))
		return real.pthread_create(thread, attributes, run, arg);
	place->run = run;
	place->arg = arg;
	return created(place,
		       real.pthread_create(thread, attributes,
					   is_background ? begin_for_us : begin,
					   place));
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *arg)
{
	struct thread_begin *place;

	if (unlikely(!real.thrd_create))
		real_look_late();
	if (unlikely(!real.thrd_create))
		return thrd_error;
	thread_watch_created();
	place = place_of(__builtin_return_address(0));
	if (likely(!place))
		return real.thrd_create(thread, run, arg);
	place->run_c11 = run;
	place->arg = arg;
	return created(place, real.thrd_create(thread, begin_c11, place));
}

/* --- a thread's stack for signals ------------------------------------------*/

/* Who takes its own away gets ours, and both times hears of none. */
EXPORT int sigaltstack(const stack_t *wanted, stack_t *before)
{
	const int rc = sample_room_set(wanted, before);
	const int saved = errno;

	if (rc)
		return rc;
	if (before && unlikely(sample_room_is(before)))
		*before = (stack_t){.ss_flags = SS_DISABLE};
	if (wanted && wanted->ss_flags & SS_DISABLE && sampler_is_on())
		sample_room_enter(sampler_room());
	if (wanted)
		sampler_stack_set(wanted);
	errno = saved;
	return rc;
}

/* --- a timer's threads -----------------------------------------------------*/

/* What a timer calls in a thread of its own (SIGEV_THREAD).  The C library
 * begins that thread by itself, at any time and even after the timer was
 * deleted: so a row stays what it is, and timers that say the same share one.
 * With no room left, the writer finds those threads that live long enough. */
static struct notice {
	_Atomic uint32_t state;
	void (*run)(union sigval);
	union sigval value;
} notices[NOTICES];

enum { NOTICE_FREE, NOTICE_BEING_MADE, NOTICE_MADE };

static void notify(union sigval row)
{
	const struct notice *notice = row.sival_ptr;
	const int saved = errno;

	arrive_sampled((uintptr_t)notice->run);
	errno = saved;
	notice->run(notice->value);
}

static bool is_notice(const struct notice *notice, const struct sigevent *event)
{
	return notice->run == event->sigev_notify_function &&
	       notice->value.sival_ptr == event->sigev_value.sival_ptr;
}

static struct notice *notice_of(const struct sigevent *event)
{
	for (uint32_t i = 0; i < NOTICES; i++) {
		struct notice *notice = &notices[i];
		uint32_t state = NOTICE_FREE;

		if (atomic_compare_exchange_strong_explicit(
			    &notice->state, &state, NOTICE_BEING_MADE,
			    memory_order_acquire, memory_order_acquire)) {
			notice->run = event->sigev_notify_function;
			notice->value = event->sigev_value;
			/* RELEASE pairs with ACQUIRE above: the row. */
			store_release(&notice->state, NOTICE_MADE);
			return notice;
		}
		if (state == NOTICE_MADE && is_notice(notice, event))
			return notice;
	}
	return NULL;
}

EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	struct sigevent ours;
	struct notice *notice;

	if (unlikely(!real.timer_create))
		real_look_late();
	if (unlikely(!real.timer_create)) {
		errno = EAGAIN;
		return -1;
	}
	if (likely(!event || event->sigev_notify != SIGEV_THREAD ||
		   !is_wanted(__builtin_return_address(0))))
		return real.timer_create(clock, event, timer);
	notice = notice_of(event);
	ours = *event;
	if (notice) {
		ours.sigev_notify_function = notify;
		ours.sigev_value.sival_ptr = notice;
	}
	return real.timer_create(clock, &ours, timer);
}
