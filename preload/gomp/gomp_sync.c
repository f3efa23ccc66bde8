/* SPDX-License-Identifier: MIT */
/*
 * gomp_sync.c - calls in which a thread waits for others (barriers, the ends of
 * loops and sections, taskwait), and those that give one thread something to
 * itself: critical sections, atomic regions, the turn in an ordered loop, a
 * single.
 *
 * A wait is one event, from the call to its return; the tasks that a waiting
 * thread runs lie inside.  What is acquired is two: the wait for it, and how
 * long it was held.  Between the two calls it lies on the thread's open slices;
 * an end that doesn't find it there (it began while the window was closed) is
 * only forwarded.  What is acquired between windows inside something that was
 * acquired in one is hidden there, so that each end finds its own beginning.
 */
#include "preload/gomp/gomp_thin.h"

static const struct gomp_detail nothing;

/* What all these calls look like: one argument or none, an answer or none.  The
 * calling conventions of x86-64 and aarch64 let one call serve for all. */
typedef bool plain_call(void *argument);

/* Begins a wait if waits are recorded. */
static inline bool wait_begin(struct gomp_slice *wait,
			      const struct gomp_site *site, const void *caller,
			      enum omp_sync sync)
{
	return unlikely(gomp_is_recording()) && !gomp_is_foreign(site) &&
	       gomp_slice_open(wait, site, caller, EVENT_OMP_WAIT, sync);
}

/* Ends it.  Returns the time. */
static inline uint64_t wait_end(const struct gomp_slice *wait)
{
	const uint64_t end = clock_ticks();

	gomp_slice_close(wait, end, &nothing);
	return end;
}

/* What marks a hidden slice, beside its word; the annotations have others. */
#define HIDDEN_SYNC 0x4000u

/* Acquired while nothing is recorded. */
static COLD void hide(enum omp_sync sync)
{
	struct thread *thread = thread_self;
	const struct open_slice *open;
	uint32_t depth;

	if (!thread_records(thread) || gate_bits() == GATE_UNDECIDED)
		return;
	depth = load_relaxed(&thread->depth);
	if (!depth)
		return;
	open = &thread->open[min_u64(depth, OPEN_SLICES_MAX) - 1];
	if (depth > OPEN_SLICES_MAX || open->kind == EVENT_OMP_ACQUIRED ||
	    (open->kind == EVENT_NONE && open->sync & HIDDEN_SYNC))
		thread_open(thread, EVENT_NONE, 0, 0, 0, 0, HIDDEN_SYNC | sync);
}

static inline void hide_if_wanted(const struct gomp_site *site,
				  enum omp_sync sync)
{
	if (unlikely(gomp_may_record()) && !gomp_is_foreign(site))
		hide(sync);
}

/* The wait is over: it is held from here on. */
static void hold(const struct gomp_slice *wait)
{
	struct gomp_slice held = *wait;
	const uint64_t now = wait_end(wait);

	if (!gomp_is_mine(held.thread))
		return;
	if (!gomp_is_recording()) {
		hide((enum omp_sync)held.sync);
		return;
	}
	held.kind = EVENT_OMP_ACQUIRED;
	gomp_slice_push(&held, now);
}

/* The same after a wait that is on no open slice. */
static void hold_from(struct thread *thread, const struct gomp_site *site,
		      const void *caller, enum omp_sync sync, uint64_t now)
{
	struct gomp_slice held;

	if (!gomp_is_mine(thread))
		return;
	if (!gomp_is_recording()) {
		hide(sync);
		return;
	}
	held = gomp_slice_inside(thread, site, caller, EVENT_OMP_ACQUIRED,
				 sync);
	gomp_slice_push(&held, now);
}

/* What was held ends, and with it this slice.  False: nothing of that kind is
 * innermost.  Also while the window is closed: the slice must go. */
static bool release(struct gomp_slice *held, enum omp_sync sync)
{
	struct thread *thread = thread_self;
	const struct open_slice *open;
	uint32_t depth;

	held->thread = NULL;
	if (likely(!thread_records(thread)) || gate_bits() == GATE_UNDECIDED)
		return false;
	depth = load_relaxed(&thread->depth);
	if (!depth)
		return false;
	if (unlikely(depth > OPEN_SLICES_MAX)) {
		gomp_shut_deep(thread);
		return false;
	}
	open = &thread->open[depth - 1];
	if (open->kind == EVENT_NONE && open->sync == (HIDDEN_SYNC | sync))
		thread_shut(thread);
	if (open->kind != EVENT_OMP_ACQUIRED || open->sync != sync)
		return false;
	*held = (struct gomp_slice){.thread = thread,
				    .start_ticks = open->start_ticks,
				    .code = open->code,
				    .region = open->region,
				    .depth = depth - 1,
				    .kind = EVENT_OMP_ACQUIRED,
				    .sync = (uint16_t)sync};
	return true;
}

/* --- one body for each shape, and the rows of gomp_wrapped.h -------------- */

/* This thread, if the wait that begins on it is to be thinned. */
static inline struct thread *thread_thins(const struct gomp_site *site,
					  enum omp_sync sync, uint32_t from,
					  struct thin_site **thin)
{
	struct thread *thread;

	if (likely(!gomp_is_recording()) || gomp_is_foreign(site) ||
	    !(thread = hook_thread()))
		return NULL;
	*thin = thin_site(thread, EVENT_OMP_WAIT, 0, from, sync);
	return unlikely(thin_skips(thread, *thin)) ? thread : NULL;
}

/* A wait that is thinned; *end gets when it ended. */
static bool wait_thinned(struct thread *thread, struct thin_site *thin,
			 const void *caller, plain_call *original,
			 void *argument, uint64_t *end)
{
	struct gomp_slice wait = {
		.code = (uint64_t)caller,
		.kind = EVENT_OMP_WAIT,
		.sync = thin->sync,
	};
	const uint64_t outer = thread->thin.wait_ticks;
	struct thin_frame around;
	bool answer;

	wait.start_ticks = clock_ticks();
	thin_enter(thread, &around);
	thread->thin.wait_ticks = wait.start_ticks;
	answer = original(argument);
	*end = clock_ticks();
	gomp_wait_thinned(thread, thin, &wait, &around, *end);
	if (likely(thread_self == thread))
		thread->thin.wait_ticks = outer;
	return answer;
}

static bool wait_for(const struct gomp_site *site, const void *caller,
		     enum omp_sync sync, uint32_t from, plain_call *original,
		     void *argument)
{
	struct thin_frame around;
	struct gomp_slice wait;
	struct thread *thread;
	struct thin_site *thin;
	uint64_t end;
	bool answer;

	if (from && !gomp_is_foreign(site))
		gomp_wait_ask(from, 0);
	thread = thread_thins(site, sync, from, &thin);
	if (unlikely(thread))
		return wait_thinned(thread, thin, caller, original, argument,
				    &end);
	if (likely(!wait_begin(&wait, site, caller, sync)))
		return original(argument);
	thin_enter(wait.thread, &around);
	answer = original(argument);
	gomp_wait_close(&wait, &around, from, clock_ticks());
	return answer;
}

static bool wait_in(size_t at, const void *caller, enum omp_sync sync,
		    uint32_t from, void *argument)
{
	const struct gomp_site *site = gomp_site(caller, NULL);
	plain_call *original = gomp_original(site, at);

	return wait_for(site, caller, sync, from, original, argument);
}

static void acquire_in(size_t at, const void *caller, enum omp_sync sync,
		       void *argument)
{
	const struct gomp_site *site = gomp_site(caller, NULL);
	plain_call *original;
	struct gomp_slice wait;
	struct thread *thread;
	struct thin_site *thin;
	uint64_t end;

	thread = thread_thins(site, sync, 0, &thin);
	if (unlikely(thread)) {
		wait_thinned(thread, thin, caller, gomp_original(site, at),
			     argument, &end);
		hold_from(thread, site, caller, sync, end);
		return;
	}
	if (likely(!wait_begin(&wait, site, caller, sync))) {
		original = gomp_original(site, at);
		original(argument);
		hide_if_wanted(site, sync);
		return;
	}
	original = gomp_original(site, at);
	original(argument);
	hold(&wait);
}

static void release_in(size_t at, const void *caller, enum omp_sync sync,
		       void *argument)
{
	const struct gomp_site *site = gomp_site(caller, NULL);
	plain_call *original;
	struct gomp_slice held;
	uint64_t end;

	if (likely(!release(&held, sync))) {
		original = gomp_original(site, at);
		original(argument);
		return;
	}
	/* The time before, so that two holders never overlap; the event after,
	 * so that nobody waits for it. */
	end = clock_ticks();
	original = gomp_original(site, at);
	original(argument);
	gomp_held_close(&held, end);
}

/* clang-format off */
#define X(returns, name, alone, parameters, says)			\
	EXPORT returns GOMP_##name parameters				\
	{								\
		return (returns)wait_in(				\
			GOMP_HERE(name), OMP_SYNC_##says,		\
			gomp_wait_from(OMP_SYNC_##says,			\
				       __builtin_return_address(0)),	\
			NULL);						\
	}
GOMP_WAITS(X)
#undef X

#define X(returns, name, alone, parameters, says)			\
	EXPORT returns GOMP_##name parameters				\
	{								\
		acquire_in(GOMP_HERE(name), OMP_SYNC_##says, NULL);	\
	}
GOMP_ACQUIRES(X)
#undef X

#define X(returns, name, alone, parameters, says)			\
	EXPORT returns GOMP_##name parameters				\
	{								\
		release_in(GOMP_HERE(name), OMP_SYNC_##says, NULL);	\
	}
GOMP_RELEASES(X)
#undef X
/* clang-format on */

/* Waits for the tasks that these depend on alone. */
EXPORT void GOMP_taskwait_depend(void **depend)
{
	wait_in(GOMP_HERE(taskwait_depend), OMP_SYNC_TASKWAIT, 0, depend);
}

EXPORT void GOMP_critical_name_start(void **lock)
{
	acquire_in(GOMP_HERE(critical_name_start), OMP_SYNC_CRITICAL, lock);
}

EXPORT void GOMP_critical_name_end(void **lock)
{
	release_in(GOMP_HERE(critical_name_end), OMP_SYNC_CRITICAL, lock);
}

/* --- singles and groups of tasks ------------------------------------------ */

/* Whoever comes first has it; the others pass at once, and wait at the barrier
 * after it.  There is no call at its end: an event marks the thread. */
EXPORT bool GOMP_single_start(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;
	bool is_first;

	if (likely(!wait_begin(&wait, site, address, OMP_SYNC_SINGLE)))
		return gomp_library(site)->single_start();
	is_first = gomp_library(site)->single_start();
	wait.kind = EVENT_OMP_ACQUIRED;
	if (is_first)
		gomp_held_close(&wait, clock_ticks());
	else
		gomp_slice_drop(&wait);
	return is_first;
}

/* NULL for the first, who goes on; the others wait for what it copies out. */
EXPORT void *GOMP_single_copy_start(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;
	void *copied;

	if (likely(!wait_begin(&wait, site, address, OMP_SYNC_SINGLE_COPY))) {
		copied = gomp_library(site)->single_copy_start();
		if (!copied)
			hide_if_wanted(site, OMP_SYNC_SINGLE_COPY);
		return copied;
	}
	copied = gomp_library(site)->single_copy_start();
	if (copied)
		wait_end(&wait);
	else
		hold(&wait);
	return copied;
}

/* Here the first one waits until the others have come for it. */
EXPORT void GOMP_single_copy_end(void *data)
{
	struct gomp_slice held;

	if (release(&held, OMP_SYNC_SINGLE_COPY))
		gomp_held_close(&held, clock_ticks());
	wait_in(GOMP_HERE(single_copy_end), OMP_SYNC_SINGLE_COPY, 0, data);
}

/* A group of tasks is held from its start to its end, which waits for them. */
EXPORT void GOMP_taskgroup_start(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice held;

	gomp_library(site)->taskgroup_start();
	if (unlikely(gomp_is_recording()) && !gomp_is_foreign(site))
		gomp_slice_open(&held, site, address, EVENT_OMP_ACQUIRED,
				OMP_SYNC_TASKGROUP);
	else
		hide_if_wanted(site, OMP_SYNC_TASKGROUP);
}

static bool end_group(void *library)
{
	((struct gomp_library *)library)->taskgroup_end();
	return false;
}

EXPORT void GOMP_taskgroup_end(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct thin_frame around;
	struct gomp_slice held;
	struct gomp_slice wait;
	struct thread *thread;
	struct thin_site *thin;
	uint64_t end;

	thread = thread_thins(site, OMP_SYNC_TASKGROUP, 0, &thin);
	if (unlikely(thread)) {
		wait_thinned(thread, thin, address, end_group,
			     gomp_library(site), &end);
		if (release(&held, OMP_SYNC_TASKGROUP))
			gomp_held_close(&held, end);
		return;
	}
	if (likely(!wait_begin(&wait, site, address, OMP_SYNC_TASKGROUP))) {
		gomp_library(site)->taskgroup_end();
		if (release(&held, OMP_SYNC_TASKGROUP))
			gomp_slice_drop(&held);
		return;
	}
	thin_enter(wait.thread, &around);
	gomp_library(site)->taskgroup_end();
	end = clock_ticks();
	gomp_wait_close(&wait, &around, 0, end);
	if (release(&held, OMP_SYNC_TASKGROUP))
		gomp_held_close(&held, end);
}

/* --- locks of the program's own ------------------------------------------- */

/* One that is free is taken as ever.  How long it is held is no slice: locks
 * need not nest. */
static inline void set_lock(void *lock, const void *caller,
			    unsigned int language)
{
	const struct gomp_site *site = gomp_site(caller, NULL);
	const struct gomp_locks *locks = gomp_locks(site->object);
	plain_call *set = (plain_call *)(void *)locks->set[language];

	if (likely(!gomp_is_recording()) || locks->foreign)
		locks->set[language](lock);
	else if (!locks->test[language](lock))
		wait_for(site, caller, OMP_SYNC_LOCK, 0, set, lock);
}

EXPORT void omp_set_lock(void *lock)
{
	set_lock(lock, __builtin_return_address(0), GOMP_LOCK_C);
}

EXPORT void omp_set_lock_(void *lock)
{
	set_lock(lock, __builtin_return_address(0), GOMP_LOCK_FORTRAN);
}
