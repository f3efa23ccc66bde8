/* SPDX-License-Identifier: MIT */
/*
 * thinned.h - calls that left nothing but a mark (collector/session/thin.h):
 * they are in the totals of their window, and drawn nowhere.
 *
 * Up to three marks lie in their thread's record until an event takes them
 * along, and the sums of up to some thousand calls; what is counted from there
 * is known by its number when that comes.
 */
#ifndef WRITER_THINNED_H
#define WRITER_THINNED_H

#include "writer/state/writer_state.h"

/* How many marks such an event holds, 0 if it holds sums; of a damaged one no
 * more than fit. */
unsigned int thinned_marks(const struct event *event);

/* One of its marks as the event that the call would have been.  False: its
 * site is not there. */
bool thinned_call(const struct writer_state *state,
		  const struct ring_reader *reader, const struct event *event,
		  unsigned int at, struct event *call);

/* Counts its marks.  False: one belongs to a later window, and the event stays
 * in its ring. */
bool thinned_take(struct writer_state *state, struct ring_reader *reader,
		  const struct event *event);

/* An event of the heap that is written or not: so were those of its kind that
 * its thread passed over before it. */
void thinned_blocks(struct writer_state *state, struct ring_reader *reader,
		    const struct event *event, bool is_inside);

/* The window has ended: those that are not in a ring yet. */
void thinned_take_last(struct writer_state *state);

#endif
