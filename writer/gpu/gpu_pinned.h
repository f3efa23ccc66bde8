/* SPDX-License-Identifier: MIT */
/*
 * gpu_pinned.h - the host's memory that is pinned for GPUs.
 *
 * It is told of in two ways: CUPTI has records of what the driver allocates,
 * and a callback has what the program pins itself, whose end names no size.
 * One block may be told of twice; it counts once.
 */
#ifndef WRITER_GPU_PINNED_H
#define WRITER_GPU_PINNED_H

#include "collector/session/event.h"
#include "writer/state/arena.h"

#define GPU_MEMORY_PINNED 2u /* CUPTI's number of the kind */

struct gpu_pinned {
	struct array blocks;
	size_t count;
	int64_t live_bytes; /* in the order of time */
};

static inline bool gpu_is_pinned(const struct event *event)
{
	return event->kind == EVENT_GPU_MEMORY &&
	       event->extra == GPU_MEMORY_PINNED;
}

/* The next event in time.  A free gets its size.  False: it says nothing new,
 * or of a free nobody knows the size. */
bool gpu_pinned_follow(struct gpu_pinned *pinned, struct event *event);

#endif
