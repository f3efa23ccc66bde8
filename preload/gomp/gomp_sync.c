/* SPDX-License-Identifier: MIT */
/*
 * gomp_sync.c - calls that give one thread something to itself: critical
 * sections, atomic regions, the turn in an ordered loop, a single.
 *
 * Two events: the wait for it, and how long it was held.  Between the two calls
 * what is held lies on the thread's open slices; an end that doesn't find it
 * there (it began while the window was closed) is only forwarded.
 */
#include "preload/gomp/gomp_wait.h"

static const struct gomp_detail nothing;

/* The wait is over: it is held from here on.  Deeper than the open slices are
 * kept its end would not be known again, so there only the wait is seen. */
static void hold(const struct gomp_slice *wait)
{
	struct gomp_slice held = *wait;
	const uint64_t now = gomp_wait_end(wait);

	if (!gomp_is_mine(held.thread) || !gomp_is_recording() ||
	    held.depth >= OPEN_SLICES_MAX)
		return;
	held.kind = EVENT_OMP_ACQUIRED;
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
	if (!depth || depth > OPEN_SLICES_MAX)
		return false;
	open = &thread->open[depth - 1];
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

EXPORT void GOMP_critical_start(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_CRITICAL))) {
		gomp_library(site)->critical_start();
		return;
	}
	gomp_library(site)->critical_start();
	hold(&wait);
}

EXPORT void GOMP_critical_end(void)
{
	const struct gomp_site *site =
		gomp_site(__builtin_return_address(0), NULL);
	struct gomp_slice held;
	uint64_t end;

	if (likely(!release(&held, OMP_SYNC_CRITICAL))) {
		gomp_library(site)->critical_end();
		return;
	}
	/* The time before, so that two holders never overlap; the event after,
	 * so that nobody waits for it. */
	end = clock_ticks();
	gomp_library(site)->critical_end();
	gomp_slice_close(&held, end, &nothing);
}

EXPORT void GOMP_critical_name_start(void **lock)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_CRITICAL))) {
		gomp_library(site)->critical_name_start(lock);
		return;
	}
	gomp_library(site)->critical_name_start(lock);
	hold(&wait);
}

EXPORT void GOMP_critical_name_end(void **lock)
{
	const struct gomp_site *site =
		gomp_site(__builtin_return_address(0), NULL);
	struct gomp_slice held;
	uint64_t end;

	if (likely(!release(&held, OMP_SYNC_CRITICAL))) {
		gomp_library(site)->critical_name_end(lock);
		return;
	}
	/* The time before, so that two holders never overlap; the event after,
	 * so that nobody waits for it. */
	end = clock_ticks();
	gomp_library(site)->critical_name_end(lock);
	gomp_slice_close(&held, end, &nothing);
}

EXPORT void GOMP_atomic_start(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_ATOMIC))) {
		gomp_library(site)->atomic_start();
		return;
	}
	gomp_library(site)->atomic_start();
	hold(&wait);
}

EXPORT void GOMP_atomic_end(void)
{
	const struct gomp_site *site =
		gomp_site(__builtin_return_address(0), NULL);
	struct gomp_slice held;
	uint64_t end;

	if (likely(!release(&held, OMP_SYNC_ATOMIC))) {
		gomp_library(site)->atomic_end();
		return;
	}
	/* The time before, so that two holders never overlap; the event after,
	 * so that nobody waits for it. */
	end = clock_ticks();
	gomp_library(site)->atomic_end();
	gomp_slice_close(&held, end, &nothing);
}

EXPORT void GOMP_ordered_start(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_ORDERED))) {
		gomp_library(site)->ordered_start();
		return;
	}
	gomp_library(site)->ordered_start();
	hold(&wait);
}

EXPORT void GOMP_ordered_end(void)
{
	const struct gomp_site *site =
		gomp_site(__builtin_return_address(0), NULL);
	struct gomp_slice held;
	uint64_t end;

	if (likely(!release(&held, OMP_SYNC_ORDERED))) {
		gomp_library(site)->ordered_end();
		return;
	}
	/* The time before, so that two holders never overlap; the event after,
	 * so that nobody waits for it. */
	end = clock_ticks();
	gomp_library(site)->ordered_end();
	gomp_slice_close(&held, end, &nothing);
}

/* Whoever comes first has it; the others pass at once, and wait at the barrier
 * behind it.  There is no call at its end: an event marks the thread. */
EXPORT bool GOMP_single_start(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice wait;
	bool is_first;

	if (likely(!gomp_wait_begin(&wait, site, address, OMP_SYNC_SINGLE)))
		return gomp_library(site)->single_start();
	is_first = gomp_library(site)->single_start();
	wait.kind = EVENT_OMP_ACQUIRED;
	if (is_first)
		gomp_wait_end(&wait);
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

	if (likely(!gomp_wait_begin(&wait, site, address,
				    OMP_SYNC_SINGLE_COPY)))
		return gomp_library(site)->single_copy_start();
	copied = gomp_library(site)->single_copy_start();
	if (copied)
		gomp_wait_end(&wait);
	else
		hold(&wait);
	return copied;
}

/* Here the first one waits until the others have come for it. */
EXPORT void GOMP_single_copy_end(void *data)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice held;
	struct gomp_slice wait;

	if (release(&held, OMP_SYNC_SINGLE_COPY))
		gomp_slice_close(&held, clock_ticks(), &nothing);
	if (likely(!gomp_wait_begin(&wait, site, address,
				    OMP_SYNC_SINGLE_COPY))) {
		gomp_library(site)->single_copy_end(data);
		return;
	}
	gomp_library(site)->single_copy_end(data);
	gomp_wait_end(&wait);
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
}

EXPORT void GOMP_taskgroup_end(void)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, NULL);
	struct gomp_slice held;
	struct gomp_slice wait;
	uint64_t end;

	if (likely(!gomp_wait_begin(&wait, site, address,
				    OMP_SYNC_TASKGROUP))) {
		gomp_library(site)->taskgroup_end();
		if (release(&held, OMP_SYNC_TASKGROUP))
			gomp_slice_drop(&held);
		return;
	}
	gomp_library(site)->taskgroup_end();
	end = gomp_wait_end(&wait);
	if (release(&held, OMP_SYNC_TASKGROUP))
		gomp_slice_close(&held, end, &nothing);
}
