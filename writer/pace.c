/* SPDX-License-Identifier: MIT */
/* pace.c - the writer's sleep; see pace.h. */
#include "writer/pace.h"

#include "collector/session/pool.h"
#include "collector/session/ring.h"
#include "collector/steps/manual_window.h"
#include "collector/steps/steps.h"
#include "collector/system/futex.h"

#define MS_NS		 UINT64_C(1000000)
/* One part of work, so many of sleep: 2 % of a core. */
#define REST_PER_WORK	 49u
#define REST_LEAST_NS	 (100 * MS_NS)
#define REST_MOST_NS	 (400 * MS_NS)
/* How long windows are not looked at. */
#define NAP_NS		 (20 * MS_NS)
#define NAP_LONG_NS	 (100 * MS_NS)
/* Of the buffer, in 16ths.  Below the first it keeps to its share of a core;
 * that is left only by programs which it couldn't follow so.  A burst can fill
 * the other half in forty milliseconds. */
#define FILL_SOME	 4u
#define FILL_HALF	 8u
#define IDLE_NS		 (100 * MS_NS)
#define IDLE_LONG_NS	 (500 * MS_NS)
#define IDLE_PASSES_LONG 50u
/* Longest sleep, steps by time. */
#define TIMER_NS	 (5 * MS_NS)

/* Chunks that may wait for us. */
static uint64_t most_chunks(const struct pace *pace, struct session *session)
{
	const uint64_t all = session->head->ceiling_bytes / CHUNK_BYTES + 1;

	return all > pace->kept ? all - pace->kept : 1;
}

/* The part of them that is in rings and does, in 16ths. */
static uint64_t fill(const struct pace *pace, struct session *session)
{
	const uint64_t most = most_chunks(pace, session);
	const uint64_t room = pool_room(session);

	return room >= most ? 0 : (most - room) * 16 / most;
}

bool pace_is_behind(const struct pace *pace, struct session *session)
{
	return fill(pace, session) >= FILL_SOME;
}

static bool windows_pile_up(struct session *session)
{
	struct window_state *windows = &session->head->windows;

	return load_relaxed(&windows->opened) -
		       load_relaxed(&windows->written) >
	       WINDOWS_MAX / 4;
}

/* From inside, or by a request from outside. */
static bool is_woken(struct pace *pace, struct session *session)
{
	/* ACQUIRE pairs with RELEASE in pace_wake(): why it was called. */
	return load_acquire(&pace->wake) ||
	       mailbox_is_rung(&session->head->mailbox);
}

/* Sleeps for so long, or until what `how` says. */
static void sleep_as(struct pace *pace, struct session *session,
		     enum writer_sleep how, uint64_t ns)
{
	_Atomic uint32_t *sleeps = &session->head->writer_sleeps;

	store_relaxed(sleeps, how);
	/* The wake word and the sleep word are set in the other order by
	 * pace_wake(): one of the two sees the other. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!is_woken(pace, session))
		futex_wait(sleeps, how, ns);
	store_relaxed(sleeps, WRITER_AWAKE);
}

/* Windows come one after the other. */
static bool has_schedule(struct session *session)
{
	return load_relaxed(&session->head->windows.opened) > 1;
}

/* Rests for so long, unless so many 16ths of the buffer are full by then: the
 * ring that takes the last chunk before that wakes us. */
static void rest(struct pace *pace, struct session *session, uint64_t ns,
		 uint64_t limit)
{
	store_relaxed(
		&session->head->writer_wakes_below,
		(uint32_t)(most_chunks(pace, session) * (16 - limit) / 16));
	while (ns && !is_woken(pace, session) && fill(pace, session) < limit &&
	       !windows_pile_up(session)) {
		const uint64_t nap = min_u64(
			ns, has_schedule(session) ? NAP_NS : NAP_LONG_NS);

		sleep_as(pace, session, WRITER_RESTS, nap);
		ns -= nap;
	}
}

/* Sleeps until a chunk is full or the time is up. */
static void idle(struct pace *pace, struct session *session)
{
	uint64_t ns =
		pace->idle_passes > IDLE_PASSES_LONG ? IDLE_LONG_NS : IDLE_NS;

	if (pace->most_ns)
		ns = min_u64(ns, pace->most_ns);
	sleep_as(pace, session, WRITER_IDLE, ns);
}

uint64_t pace_longest(struct session *session)
{
	const struct clock_segments *clock = &session->head->clock;
	const uint64_t window = manual_time(session);
	uint64_t most = steps_source() == STEP_TIME ? TIMER_NS : UINT64_MAX;

	if (window)
		most = min_u64(most, window);
	if (!clock_is_settled(clock))
		most = min_u64(most, clock_due_in(clock) + 1);
	return most == UINT64_MAX ? 0 : most;
}

void pace_sleep(struct pace *pace, struct session *session, uint64_t events,
		uint64_t cpu_ns)
{
	const uint64_t full = fill(pace, session);
	uint64_t ns = min_u64(max_u64(cpu_ns * REST_PER_WORK, REST_LEAST_NS),
			      REST_MOST_NS);

	pace->idle_passes = events ? 0 : pace->idle_passes + 1;
	if (full >= FILL_HALF)
		ns = 0;
	else if (full >= FILL_SOME)
		ns = min_u64(cpu_ns, NAP_NS);
	if (pace->most_ns)
		ns = min_u64(ns, pace->most_ns);
	rest(pace, session, ns, full >= FILL_SOME ? FILL_HALF : FILL_SOME);
	if (!events)
		idle(pace, session);
	store_relaxed(&pace->wake, 0);
}

void pace_wake_other(struct session_header *head)
{
	_Atomic uint32_t *sleeps = &head->writer_sleeps;

	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_exchange_explicit(sleeps, 0, memory_order_relaxed))
		futex_wake(sleeps);
}

void pace_wake(struct pace *pace, struct session *session)
{
	/* RELEASE pairs with ACQUIRE in is_woken(). */
	store_release(&pace->wake, 1);
	pace_wake_other(session->head);
}
