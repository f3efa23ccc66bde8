/* SPDX-License-Identifier: MIT */
/*
 * draw.h - what becomes of one event that was read: its place in the file.
 *
 * An event belongs to the window in which it began; what outlasts the window is
 * clipped to it.  Times are clipped so that the slices of a lane nest at the
 * resolution of the file.  Waits of workers at a region's end are put together
 * here too, and what is still open when a window ends.
 */
#ifndef WRITER_DRAW_H
#define WRITER_DRAW_H

#include "writer/events/event_json.h"
#include "writer/state/writer_state.h"

/* Writes an event of writer_state_window() (its place is PLACE_WRITE) and adds
 * it to the totals.  False: it isn't in the file. */
bool draw_event(struct writer_state *state, struct ring_reader *reader,
		const struct event *event);

/* A region's event has the master's share and its wait in it: draws the wait,
 * and leaves the region, in whose slice the share is if it is_written. */
void draw_share(struct writer_state *state, struct ring_reader *reader,
		struct event *region, bool is_written);

/* A slice that is known only now, written if it lies in the window: true. */
bool draw_late(struct writer_state *state, struct ring_reader *reader,
	       const struct event *event);

/* What lies in the window of a region, or of a member's share of it, that began
 * before. */
void draw_part(struct writer_state *state, struct ring_reader *reader,
	       const struct event *whole, uint64_t end_ticks);

/* Waits whose region has ended by now, after all readers were drained. */
void draw_waits(struct writer_state *state);

/* A slice of time was drained of all rings: these, and what is told by time. */
void draw_settle(struct writer_state *state);

/* The window has ended: what began in it and is still open, and what ended
 * later and lies after events of the next window. */
void draw_open(struct writer_state *state);

/* The run has ended: events refused last. */
void draw_refused(struct writer_state *state);

#endif
