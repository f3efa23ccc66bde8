/* SPDX-License-Identifier: MIT */
/*
 * step_lane.h - draws steps that nobody marked, on a lane beside their
 * thread's.
 */
#ifndef WRITER_STEP_LANE_H
#define WRITER_STEP_LANE_H

#include "writer/steps/step_marks.h"

struct step_lane {
	const struct step_marks *of;
	const struct loop_level *level;
	const struct step_marks *work; /* where a hit's end is a turn's: what
					  tells how long one is, else NULL, */
	size_t work_length;	       /* ... its median in marks of that */
	struct step_turns turns;
	size_t begin;	       /* the running step's first mark, */
	uint64_t ticks;	       /* when that began, 0 none runs, */
	int64_t number;	       /* and its number */
	uint64_t closed_ticks; /* until when files were closed without steps, */
	uint64_t late;	       /* ... and how many lie there */
};

/* Draws the steps that ended by `until`, as far as the first `count` marks tell
 * of them and as they lie in the window that is written. */
void step_lane_draw(struct writer_state *state, struct step_lane *lane,
		    size_t count, uint64_t until);

/* Draws the step that is running: it ended then. */
void step_lane_end(struct writer_state *state, struct step_lane *lane,
		   uint64_t end_ticks);

#endif
