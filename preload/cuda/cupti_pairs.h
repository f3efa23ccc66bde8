/* SPDX-License-Identifier: MIT */
/*
 * cupti_pairs.h - one call of the program, one event.
 *
 * A call of the CUDA runtime makes calls of the driver, which have the same
 * correlation id, end before it and are recorded before it.  Shown is the
 * outermost: a driver call waits here for the next record of its thread, which
 * tells whether it was made by the program.
 */
#ifndef PRELOAD_CUPTI_PAIRS_H
#define PRELOAD_CUPTI_PAIRS_H

#include "collector/session/event.h"

#define CUPTI_PAIRS_OUT 2u /* events that one may set free */

/* An API event.  What may be shown now goes to `out`; returns how many. */
unsigned int cupti_pairs_add(const struct event *event,
			     struct event out[CUPTI_PAIRS_OUT],
			     uint64_t *doubled);

/* Next driver call that has waited since before `ticks`; false: none. */
bool cupti_pairs_overdue(uint64_t ticks, struct event *out);

/* When the oldest one began that still waits; UINT64_MAX: none does. */
uint64_t cupti_pairs_oldest(void);

void cupti_pairs_forget(void);

#endif
