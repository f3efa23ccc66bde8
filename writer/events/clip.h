/* SPDX-License-Identifier: MIT */
/*
 * clip.h - an event's times in the file, and whether there is room for it.
 *
 * What outlasts the window is clipped to it, if it is the program's: what a GPU
 * does goes on.  Slices of a lane are moved by nanoseconds, so that they nest
 * at the resolution of the file.
 */
#ifndef WRITER_CLIP_H
#define WRITER_CLIP_H

#include "writer/events/event_json.h"

/* The end of the window that is written, 0 while it is open. */
uint64_t clip_window_end(struct writer_state *state);

/* The event's times, written word by word where they are read so: to copy what
 * was just written in larger pieces takes a dozen cycles.  `reader` is whose
 * lane it lies on, NULL for a GPU's. */
void clip_event(struct writer_state *state, struct ring_reader *reader,
		const struct event *event, struct event_span *span);

/* A heap event of a block that TRACEPROF_MALLOC=large would pass over. */
bool clip_is_small_block(const struct writer_state *state,
			 const struct event *event);

/* Past TRACEPROF_MAX_MB only totals, counters and steps go on, or a next part
 * is due; small blocks may take half of it. */
bool clip_has_room(struct writer_state *state, const struct event *event,
		   uint64_t ts_ns);

/* Books an event: drawn, or why not.  `is_inside`: its window is the one that
 * is written. */
void clip_count(struct writer_state *state, const struct event *event,
		bool is_inside, bool is_drawn);

#endif
