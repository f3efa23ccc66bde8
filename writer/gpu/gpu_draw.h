/* SPDX-License-Identifier: MIT */
/*
 * gpu_draw.h - the lane of one event of a GPU, what it is linked to, its text.
 *
 * Its place is PLACE_WRITE; `launch` is the call that it comes from, NULL
 * where that was never seen.
 */
#ifndef WRITER_GPU_DRAW_H
#define WRITER_GPU_DRAW_H

#include "writer/gpu/gpu_known.h"

/* False: it isn't in the file. */
bool gpu_draw(struct writer_state *state, const struct event *event,
	      struct gpu_launch *launch);

/* What CUPTI itself did, or didn't, on a lane beside that thread; 0: not known
 * which. */
bool gpu_draw_overhead(struct writer_state *state, uint32_t tid,
		       const char *text, size_t len, struct lane_span span);

/* The record of a thread, for its open slices and its name; NULL none. */
struct ring_reader *gpu_reader_of(const struct writer_state *state,
				  uint32_t tid);
const struct thread *gpu_thread_of(const struct writer_state *state,
				   uint32_t tid);

#endif
