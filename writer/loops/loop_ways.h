/* SPDX-License-Identifier: MIT */
/*
 * loop_ways.h - whether a step may be one of two ways that a loop takes.
 *
 * A codec's pictures that tell of what moved, and those that are whole, look
 * like a training and its evaluations: these have a piece of each turn in
 * common, too.  But a run begins with an evaluation's piece, not in the middle
 * of it.  And a part that comes from some turn on, in turns that aren't much
 * longer for it, is no sign of another loop either.
 */
#ifndef WRITER_LOOP_WAYS_H
#define WRITER_LOOP_WAYS_H

#include "writer/loops/loop_gain.h"

bool loop_is_one_way(const struct loop_groups *groups,
		     struct loop_scratch *scratch,
		     const struct loop_candidate *loop,
		     const struct loop_candidate *step);

#endif
