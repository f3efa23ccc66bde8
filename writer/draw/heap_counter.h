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

/* A heap event was read: its thread's count becomes known.  The most that was
 * live is known once a slice of time was drained of all rings. */
void heap_counter_event(struct writer_state *state, struct ring_reader *reader,
			const struct event *event);

/* A thread was drained.  Where it is over, its last blocks may have come and
 * gone without an event. */
void heap_counter_thread(struct writer_state *state,
			 struct ring_reader *reader);

/* It belongs to the file: TRACEPROF_MALLOC=all draws the counter from here. */
void heap_counter_draw(struct writer_state *state, uint64_t ts_ns);

/* A slice of time was drained of all rings: its calls by time. */
void heap_counter_settle(struct writer_state *state);

/* Its memory is given back. */
void heap_counter_stop(struct writer_state *state);

/* Nothing can have been live between two events that they don't tell of. */
bool heap_counter_is_exact(const struct writer_state *state);

/* Live process, once a pass: looks at the counters. */
void heap_counter_sample(struct writer_state *state);

/* The first and the last one of a window, so that short ones have any. */
void heap_counter_begin(struct writer_state *state, uint64_t start_ticks);
void heap_counter_end(struct writer_state *state, uint64_t end_ticks);

#endif
