/* SPDX-License-Identifier: MIT */
/*
 * flame.h - from samples of a thread to slices on a lane beside it.
 *
 * A sample stands for the processor time up to it.  What it has in common with
 * the one before, outermost functions first, goes on; the rest ends and begins.
 * A thread that was off the processor leaves a gap.  Each slice counts the
 * samples in which it was the innermost, and their places, so that sums are
 * exact; where these are too many for one slice, the next one begins.
 *
 * What is open lies here alone, so it ends at each checkpoint, and begins anew.
 */
#ifndef WRITER_FLAME_H
#define WRITER_FLAME_H

#include "writer/state/writer_state.h"

/* One sample, taken at `ns`.  False: it can't be drawn. */
bool flame_take(struct writer_state *state, struct ring_reader *reader,
		const struct event *event, uint64_t ns);

/* Ends what is open, of all threads. */
void flame_flush(struct writer_state *state);

#endif
