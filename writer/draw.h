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

#include "writer/event_json.h"
#include "writer/scribe.h"

/* Writes an event of scribe_window() (its place is SCRIBE_WRITE) and adds it to
 * the totals.  False: it isn't in the file. */
bool draw_event(struct scribe *scribe, struct track *track,
		const struct event *event);

/* An event's times in the file, clipped to its window if it is the program's;
 * and whether MAX_MB leaves room for it. */
struct event_span draw_clip(struct scribe *scribe, struct track *track,
			    const struct event *event);
bool draw_has_room(struct scribe *scribe, const struct event *event,
		   uint64_t ts_ns);

/* A slice that is known only now, written if it lies in the window. */
void draw_late(struct scribe *scribe, struct track *track,
	       const struct event *event);

/* Waits whose region has ended by now, after all tracks were drained. */
void draw_waits(struct scribe *scribe);

/* The window has ended: what began in it and is still open, and what ended
 * later and lies behind events of the next window. */
void draw_open(struct scribe *scribe);

/* The run has ended: events refused last. */
void draw_refused(struct scribe *scribe);

#endif
