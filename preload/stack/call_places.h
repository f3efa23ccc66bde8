/* SPDX-License-Identifier: MIT */
/*
 * call_places.h - from where the main thread puts work on a GPU, for who looks
 * for the step.
 *
 * A report each hundredth step and all that a time step of a hundred sweeps
 * does once are the same calls: the code around them tells (callers.h).  CUPTI
 * calls back for each call before it runs, and its record comes later; what
 * joins them is the call's number.
 *
 * The first thousands of calls are looked at, and from then on those of sites
 * that had not come often, and some of others, for as long as CUPTI calls back
 * for them.
 */
#ifndef PRELOAD_CALL_PLACES_H
#define PRELOAD_CALL_PLACES_H

#include "collector/session/thread.h"

/* Calls are to be called back for: a step is searched for, and not all that are
 * looked at have come.  Any thread. */
bool call_places_are_wanted(const struct session *session);

/* A call begins, on its own thread: of the kernel of this symbol, or one that
 * `call` tells. */
void call_places_note(const struct thread *thread, uint32_t correlation,
		      const char *symbol, uint64_t call);

/* callers_number_of_call() of that call, 0 unknown.  The writer's thread. */
uint32_t call_places_of(uint32_t correlation);

/* In a forked child, or where numbers begin anew. */
void call_places_forget(void);

#endif
