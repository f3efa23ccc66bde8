/* SPDX-License-Identifier: MIT */
/*
 * gpu.h - what the writer keeps about GPUs, and how their events are drawn.
 *
 * All come through one ring of the writer's own, in the order in which CUPTI
 * handed them over, which is nearly none: a kernel may come before the call
 * that launched it, or when its window is long over.  So what can't be drawn
 * yet goes back to the end of that ring, where it is as safe as before.
 *
 * Work belongs to the window in which it was launched, or if that was in none
 * to the one in which it begins to run.  It never begins before its launch:
 * where the two clocks say otherwise its start is moved, and the difference is
 * told.
 */
#ifndef WRITER_GPU_H
#define WRITER_GPU_H

#include "writer/gpu/gpu_known.h"

/* Makes state->gpu once the session has records of GPUs.  0 or -ENOMEM. */
int gpu_start(struct writer_state *state);
void gpu_end(struct writer_state *state);

/* Before a pass looks how far rings go: notes which slices are open. */
void gpu_look(struct writer_state *state);

/* An event met by the scan ahead of the drain. */
void gpu_scan(struct writer_state *state, const struct event *event);

/* One event: drawn, cut or put back.  False: it must stay where it is. */
bool gpu_take(struct writer_state *state, struct ring_reader *reader,
	      const struct event *event);

/* The ring was drained: allocations, in the order of their times. */
void gpu_drained(struct writer_state *state);

/* Before a slice of a thread's own is written: reserves `External id`. */
void gpu_before_slice(struct writer_state *state,
		      const struct ring_reader *reader,
		      const struct event *event);

/* ... and after it. */
void gpu_after_slice(struct writer_state *state,
		     const struct ring_reader *reader,
		     const struct event *event, const struct label *label);

/* False: records of what was launched in the window are still to come. */
bool gpu_is_settled(struct writer_state *state, uint64_t end_ticks);

/* Around the last drain of a window, once that is settled: what waits for a
 * record that hasn't come by then is drawn without it. */
void gpu_close(struct writer_state *state, bool is_closing);

/* The file ends: what is missing in it stays so. */
void gpu_count_missing(struct writer_state *state, uint64_t end_ticks);

/* Annotations whose work is complete; `all` at the end of the file. */
void gpu_project(struct writer_state *state, bool all);

#endif
