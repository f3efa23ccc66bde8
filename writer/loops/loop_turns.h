/* SPDX-License-Identifier: MIT */
/*
 * loop_turns.h - what the code around a GPU's calls, and Python's loops as they
 * turn, say of a step that was found among those calls.
 *
 * The calls alone can't tell a sweep over two colours from two steps, a report
 * each twentieth step from what a step does once, or an optimizer that is
 * called twice in a step from two steps.  A place that comes in each turn of a
 * loop counts that loop's turns.
 */
#ifndef WRITER_LOOP_TURNS_H
#define WRITER_LOOP_TURNS_H

#include "writer/loops/loop_nest.h"

/* Whether the level, of the first `count` marks, may not be the step.  If its
 * marker comes from several places, once from each in a turn, the level has
 * that many hits to a turn from here on. */
bool loop_turns_are_doubtful(const struct loop_mark *marks, size_t count,
			     struct loop_level *level);

/* Of a nest whose step isn't certain: by the code its marker comes several
 * times in each turn of a loop, and that of the level which it might be too
 * comes once.  Then that one is the step. */
bool loop_turns_decide(const struct loop_mark *marks, size_t count,
		       struct loop_nest *nest);

#endif
