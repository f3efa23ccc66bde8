/* SPDX-License-Identifier: MIT */
/* gpu_behind.c - see gpu_behind.h. */
#include "tools/model/gpu_behind.h"

#include <stdlib.h>

/* A GPU with nothing else to do begins some microseconds after a call. */
#define WAITS_NS INT64_C(1000000)

/* The call of a stream's first work is over, and the work waits.  The call
 * itself may have loaded code. */
static bool waits(const struct timeline *timeline, const struct gpu_work *work)
{
	uint32_t lane;
	const struct launch *launch =
		timeline_launch_of(timeline, work->correlation, &lane);

	return launch &&
	       work->start_ns - launch->start_ns -
			       timeline_launch_ns(timeline, lane, launch) >=
		       WAITS_NS;
}

int64_t gpu_behind_until(const struct timeline *timeline)
{
	const size_t streams = timeline->streams.count;
	bool *is_seen = calloc(streams + 1, sizeof(*is_seen));
	int64_t until_ns = 0;
	size_t seen = 0;

	for (size_t at = 0;
	     is_seen && at < timeline->work_count && seen < streams; at++) {
		const struct gpu_work *work = &timeline->work[at];
		const uint32_t stream = timeline_row(timeline, work)->stream;

		if (stream >= streams || is_seen[stream])
			continue;
		is_seen[stream] = true;
		seen++;
		if (waits(timeline, work))
			until_ns = work->start_ns;
	}
	free(is_seen);
	return until_ns;
}
