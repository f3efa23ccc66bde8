/* SPDX-License-Identifier: MIT */
/*
 * cupti_clock.h - the time in CUPTI's records, as ticks of ours.
 *
 * CUPTI asks our clock, where that does no harm: then a record's time is ours.
 * Where it spoils times (cupti_versions.h) it goes by its own clock.  Both are
 * read together at the start and each time before buffers are decoded, at least
 * once a second while records come; what lies between two such pairs is on the
 * line between them.  Where the system's time was set in the meantime, a new
 * line begins, and a note says so.
 */
#ifndef PRELOAD_CUPTI_CLOCK_H
#define PRELOAD_CUPTI_CLOCK_H

#include "preload/cuda/cupti_library.h"

#ifdef HAVE_CUPTI

/* Registers our clock, or takes the first pair.  0 or CUPTI's error. */
int cupti_clock_start(void);

/* After another client, which had a clock of its own: CUPTI can't be told to
 * take its own again, so that it gets ours, whatever that spoils. */
int cupti_clock_again(void);

/* The writer's thread alone: reads both clocks, unless another client's is in
 * use. */
void cupti_clock_pair(bool (*is_ours)(void));

/* The helper's thread, once CUPTI's last records before another takes it are
 * there: reads them for the writer. */
void cupti_clock_leave(bool (*is_ours)(void));

/* Whether what CUPTI hands over now has its own clock; any thread.  And what
 * was found so of the records that follow; the writer's. */
bool cupti_clock_is_own(void);
void cupti_clock_of(bool is_own);

/* Now, by the clock that records have, and a second of that; any thread. */
uint64_t cupti_clock_now(void);
uint64_t cupti_clock_second(void);

/* Of a record, 0 stays 0.  The writer's thread alone. */
uint64_t cupti_clock_ticks(uint64_t time);

/* So that what came after another may have times from before its end; the
 * writer's thread alone. */
bool cupti_clock_was_set(void);

/* Times that can't be say so: forward and back between two readings.  Nothing
 * where they aren't by CUPTI's own clock; the writer's thread alone. */
void cupti_clock_seen_set(void);

/* So many ticks a record's time may be off; any thread. */
uint64_t cupti_clock_error(void);

void cupti_clock_forget(void);

#endif
#endif
