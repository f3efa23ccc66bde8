/* SPDX-License-Identifier: MIT */
/*
 * host_cover.h - what samples say of a thread's own code, moment by moment.
 *
 * Where a thread's lane of samples is empty, it was off the processor.
 */
#ifndef TOOLS_HOST_COVER_H
#define TOOLS_HOST_COVER_H

#include "tools/model/run_timeline.h"

enum cover {
	COVER_OFF,
	COVER_PYTHON,
	COVER_NATIVE,
	COVER_ALLOC,
	COVER_SPIN /* has the processor, and waits */
};

struct cover_piece {
	int64_t start_ns, end_ns;
	enum cover cover;
};

struct host_cover {
	struct cover_piece *pieces; /* by start; NULL: no samples */
	size_t count, capacity, next;
	struct timeline *timeline;
};

/* The lane of the samples of a thread, whose own is `lane`; TIMELINE_NONE: it
 * has none. */
uint32_t host_cover_lane(const struct timeline *timeline, uint32_t lane);
bool host_cover_is_lane(const struct timeline *timeline, uint32_t lane);

/* Of a thread's lane. */
void host_cover_make(struct host_cover *cover, struct timeline *timeline,
		     uint32_t lane);
void host_cover_free(struct host_cover *cover);

/* What holds at `ns`, and in *until_ns, if that is earlier, until when.  Times
 * must not go back. */
enum cover host_cover_at(struct host_cover *cover, int64_t ns,
			 int64_t *until_ns);

#endif
