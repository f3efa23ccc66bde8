/* SPDX-License-Identifier: MIT */
/*
 * heap_track.h - the program's live heap bytes over time.
 *
 * Hooks count in their own thread's record; the sum is taken here, on the
 * writer's clock, at no cost to them.  With TRACEPROF_MALLOC=all each event
 * carries its thread's count, so the track comes from the events.
 */
#ifndef WRITER_HEAP_TRACK_H
#define WRITER_HEAP_TRACK_H

#include "writer/scribe.h"

/* A heap event was read: its thread's count becomes known. */
void heap_track_event(struct scribe *scribe, struct track *track,
		      const struct event *event);

/* It belongs to the file: TRACEPROF_MALLOC=all draws the track from here. */
void heap_track_draw(struct scribe *scribe, uint64_t ts_ns);

/* Live process, once a pass: looks at the counters. */
void heap_track_sample(struct scribe *scribe);

/* The first and the last one of a window, so that short ones have any. */
void heap_track_begin(struct scribe *scribe, uint64_t start_ticks);
void heap_track_end(struct scribe *scribe, uint64_t end_ticks);

#endif
