/* SPDX-License-Identifier: MIT */
/*
 * by_time.h - what came ring by ring, in the order of its time.
 *
 * Of a slice of time the rings are drained one after the other.  What has to be
 * known in the order in which it happened is kept until all of them are: things
 * of one size whose first member is their time in ticks, those of a ring side
 * by side and in order already, as a run.
 */
#ifndef WRITER_BY_TIME_H
#define WRITER_BY_TIME_H

#include "writer/state/arena.h"

struct by_time {
	struct array items, runs;
	size_t count, run_count;
};

/* Adds one of `bytes`.  `goes_on`: it is of the same ring as the last one.
 * False where there is no memory for it. */
bool by_time_add(struct by_time *list, const void *item, size_t bytes,
		 bool goes_on);

/* The last one that was added, NULL there is none. */
void *by_time_last(const struct by_time *list, size_t bytes);

/* The first one of each run, in no order; NULL past the last run. */
void *by_time_first(const struct by_time *list, size_t bytes, size_t run);

/* Calls `take` with each, by time, and with the one that comes next in its
 * ring, NULL if none does.  The list is empty then. */
void by_time_settle(struct by_time *list, size_t bytes,
		    void (*take)(void *arg, void *item, void *next), void *arg);

void by_time_free(struct by_time *list);

#endif
