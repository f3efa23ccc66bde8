/* SPDX-License-Identifier: MIT */
/*
 * heap_counter.h - the program's live heap bytes over time.
 *
 * Hooks count in their own thread's record; the sum is taken here, on the
 * writer's clock, at no cost to them.  With TRACEPROF_MALLOC=all each event
 * carries its thread's count, so the counter comes from the events.
 */
#ifndef WRITER_HEAP_COUNTER_H
#define WRITER_HEAP_COUNTER_H

#include "writer/state/writer_state.h"

/* A heap event was read: its thread's count becomes known. */
void heap_counter_event(struct writer_state *state, struct ring_reader *reader,
			const struct event *event);

/* A thread was drained.  Where it is over, its last blocks may have come and
 * gone without an event. */
void heap_counter_thread(struct writer_state *state,
			 struct ring_reader *reader);

/* It belongs to the file: TRACEPROF_MALLOC=all draws the counter from here. */
void heap_counter_draw(struct writer_state *state, uint64_t ts_ns);

/* Live process, once a pass: looks at the counters. */
void heap_counter_sample(struct writer_state *state);

/* The first and the last one of a window, so that short ones have any. */
void heap_counter_begin(struct writer_state *state, uint64_t start_ticks);
void heap_counter_end(struct writer_state *state, uint64_t end_ticks);

#endif
