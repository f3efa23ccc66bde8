/* SPDX-License-Identifier: MIT */
/*
 * gpu_marks.h - recordings of CUDA events, found by who waits for them.
 *
 * A wait names the event, and from CUPTI 12.8 on the recording of it; what a
 * reader wants to know is the call that recorded it and its stream.  The last
 * recordings are kept, chained by their event.
 */
#ifndef WRITER_GPU_MARKS_H
#define WRITER_GPU_MARKS_H

#include "collector/session/event.h"
#include "writer/state/arena.h"

#define GPU_MARKS_KEPT	 65536u
#define GPU_MARKS_CHAINS 4096u

struct gpu_mark {
	uint64_t older; /* number of the one before in its chain, from 1 */
	uint64_t correlation;
	uint32_t context, event;
	uint32_t recording; /* 0 unknown */
	uint32_t stream;
};

struct gpu_marks {
	struct array array; /* of struct gpu_mark, in turn */
	uint64_t count;	    /* ever */
	uint64_t newest[GPU_MARKS_CHAINS];
};

/* A recording was seen; one that there is no memory for is not kept. */
void gpu_marks_add(struct gpu_marks *marks, const struct event *event);

/* The recording that a wait is for: the one it names, else the last one of its
 * event before the wait was called for.  NULL: not seen, or too long ago. */
const struct gpu_mark *gpu_marks_find(const struct gpu_marks *marks,
				      const struct event *wait);

void gpu_marks_free(struct gpu_marks *marks);

#endif
