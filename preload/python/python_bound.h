/* SPDX-License-Identifier: MIT */
/*
 * python_bound.h - TRACEPROF_MAX_OVERHEAD: what calls of Python may cost.
 *
 * A call can't be left out as a region can, since others lie in it.  So when
 * calls have cost more than their share all of them end, until another window
 * opens.  They may run ahead of the share by a second's worth, as heap calls
 * may: short programs and windows of a few steps have all of theirs.  So many
 * calls of imports are not counted: they come once, and PyTorch's would leave a
 * training none.
 *
 * What a call costs is measured: the time in our hooks, the least of some
 * batches, since others may have the processor meanwhile, and what the
 * interpreter does for its observers, which is in proportion to it.  At first
 * all hooks are timed, later one in some: what they cost changes with what the
 * program leaves in the caches.
 *
 * All of it under the GIL, which is the only lock.
 */
#ifndef PRELOAD_PYTHON_BOUND_H
#define PRELOAD_PYTHON_BOUND_H

#include "collector/session/session.h"
#include "collector/system/clock.h"

/* Calls from one look to the next. */
#define PYTHON_BOUND_CALLS   512u
/* Calls of imports that are not counted, some 0.4 s. */
#define PYTHON_BOUND_IMPORTS 3000000u

struct python_bound {
	uint32_t left;	  /* calls until the next look; 0: there is no bound */
	uint32_t until;	  /* a hook is timed: so many from now */
	uint32_t imports; /* calls of theirs that are still not counted */
};

extern struct python_bound python_bound __attribute__((visibility("hidden")));

/* A recording begins. */
void python_bound_start(long percent);

/* The cold halves of what follows. */
bool python_bound_look(struct session *session);
void python_bound_time(struct session *session, uint64_t ticks);

/* A call begins.  True: calls have cost too much. */
static inline bool python_bound_is_passed(struct session *session,
					  bool is_of_import)
{
	if (unlikely(is_of_import && python_bound.imports)) {
		python_bound.imports--;
		return false;
	}
	return unlikely(python_bound.left && !--python_bound.left) &&
	       python_bound_look(session);
}

/* Around what a hook does. */
static inline uint64_t python_bound_begin(void)
{
	return unlikely(!--python_bound.until) ? clock_ticks() : 0;
}

static inline void python_bound_end(struct session *session, uint64_t begun)
{
	if (unlikely(begun))
		python_bound_time(session, clock_ticks() - begun);
}

#endif
