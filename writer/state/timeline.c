/* SPDX-License-Identifier: MIT */
/* timeline.c - ticks to nanoseconds; see timeline.h. */
#include "writer/state/timeline.h"

#define SECOND_NS	     INT64_C(1000000000)
#define QUARTER_YEAR_SECONDS INT64_C(7889238)
#define YEAR_NS		     (4 * QUARTER_YEAR_SECONDS * SECOND_NS)

void timeline_start(struct timeline *timeline, const struct session *session)
{
	const struct clock_segments *clock = &session->head->clock;
	int64_t unix_ns = clock->first_ns;

	/* A damaged session may hold any number. */
	if (__builtin_add_overflow(unix_ns, clock->real_minus_mono_ns,
				   &unix_ns) ||
	    unix_ns < 0)
		unix_ns = 0;
	timeline->clock = clock;
	timeline->near = 0;
	timeline->base_ns = unix_ns / SECOND_NS / QUARTER_YEAR_SECONDS *
			    QUARTER_YEAR_SECONDS * SECOND_NS;
}

uint64_t timeline_ns(struct timeline *timeline, uint64_t ticks)
{
	int64_t ns = clock_ns_near(timeline->clock, ticks, &timeline->near);

	if (__builtin_add_overflow(ns, timeline->clock->real_minus_mono_ns,
				   &ns) ||
	    __builtin_sub_overflow(ns, timeline->base_ns, &ns) || ns < 0)
		return 0;
	return min_u64((uint64_t)ns, YEAR_NS);
}

uint64_t timeline_unix_ns(struct timeline *timeline, uint64_t ticks)
{
	return (uint64_t)timeline->base_ns + timeline_ns(timeline, ticks);
}
