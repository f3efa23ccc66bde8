/* SPDX-License-Identifier: MIT */
/* rights.c - the writer's thread makes the program's calls; see rights.h. */
#include "preload/process/rights.h"

#include "collector/system/clock.h"
#include "collector/system/futex.h"
#include "preload/process/real.h"
#include "writer/writer.h"

/* It may be amid a pass. */
#define WAIT_NS UINT64_C(100000000)

enum rights_state { RIGHTS_NONE, RIGHTS_ASKED, RIGHTS_TAKEN, RIGHTS_DONE };

/* One at a time asks: a program of one thread, with all signals blocked. */
static struct {
	_Atomic uint32_t state; /* enum rights_state; futex word */
	long number, a, b, c;
	bool is_refused;
} rights;

static bool take(uint32_t from, uint32_t to)
{
	/* ACQ_REL pairs with itself: who takes it sees what was asked. */
	return atomic_compare_exchange_strong_explicit(&rights.state, &from, to,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

void rights_poll(void *unused)
{
	(void)unused;
	if (likely(load_relaxed(&rights.state) != RIGHTS_ASKED) ||
	    !take(RIGHTS_ASKED, RIGHTS_TAKEN))
		return;
	rights.is_refused = real.syscall(rights.number, rights.a, rights.b,
					 rights.c, 0, 0, 0) < 0;
	take(RIGHTS_TAKEN, RIGHTS_DONE);
	futex_wake(&rights.state);
}

bool rights_mirror(long number, long a, long b, long c)
{
	const uint64_t end = clock_monotonic_ns() + WAIT_NS;
	uint64_t now;

	if (!writer_has_thread())
		return true;
	rights.number = number;
	rights.a = a;
	rights.b = b;
	rights.c = c;
	store_relaxed(&rights.state, RIGHTS_NONE);
	take(RIGHTS_NONE, RIGHTS_ASKED);
	writer_wake();
	while (!take(RIGHTS_DONE, RIGHTS_NONE)) {
		const uint32_t state = load_relaxed(&rights.state);

		now = clock_monotonic_ns();
		if (now >= end && take(RIGHTS_ASKED, RIGHTS_NONE))
			return false;
		if (state != RIGHTS_DONE)
			futex_wait(&rights.state, state,
				   now >= end ? WAIT_NS : end - now);
	}
	return !rights.is_refused;
}
