/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - the one place where clock ticks become a file's nanoseconds.
 *
 * A file counts from `base_ns`, a quarter's boundary on the Unix clock
 * (Kineto's rule: so near that microseconds with three decimals stay exact in a
 * double, and the same for all ranks).  The map from ticks never runs backwards
 * (collector/system/clock.h), so two slices that nest in ticks nest in
 * nanoseconds.
 */
#ifndef WRITER_TIMELINE_H
#define WRITER_TIMELINE_H

#include "collector/session/session.h"

struct timeline {
	const struct clock_segments *clock;
	int64_t base_ns; /* Unix time of ts 0 */
	uint64_t near;	 /* see clock_ns_near() */
};

void timeline_start(struct timeline *timeline, const struct session *session);

/* Nanoseconds from the base; never negative, never above a year. */
uint64_t timeline_ns(struct timeline *timeline, uint64_t ticks);

/* Unix time of a tick value. */
uint64_t timeline_unix_ns(struct timeline *timeline, uint64_t ticks);

#endif
