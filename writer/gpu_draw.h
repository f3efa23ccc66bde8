/* SPDX-License-Identifier: MIT */
/*
 * gpu_draw.h - the lane of one event of a GPU, what it is linked to, its text.
 *
 * Its place is SCRIBE_WRITE; `launch` is the call that it comes from, NULL
 * where that was never seen.
 */
#ifndef WRITER_GPU_DRAW_H
#define WRITER_GPU_DRAW_H

#include "writer/gpu.h"

/* False: it isn't in the file. */
bool gpu_draw(struct scribe *scribe, const struct event *event,
	      struct gpu_launch *launch);

/* The record of a thread, for its open slices and its name; NULL none. */
struct track *gpu_track_of(const struct scribe *scribe, uint32_t tid);

#endif
