/* SPDX-License-Identifier: MIT */
/*
 * step_barriers.h - a loop within one parallel region, of which the barriers
 * tell that the main thread comes to in it.
 *
 * A mark is the time from one barrier to the next, so a turn begins with what
 * is done before its first one.  No thread counts such steps: they are looked
 * for when the run is over, where nothing else tells of a loop and one region
 * has nearly all barriers.  With a schedule windows are cut from what was kept.
 */
#ifndef WRITER_STEP_BARRIERS_H
#define WRITER_STEP_BARRIERS_H

#include "writer/steps/step_marks.h"

struct step_barriers {
	struct step_marks marks;
	uint64_t region;    /* they lie in, as events number it, */
	struct event whole; /* ... and as it was; EVENT_NONE not known yet */
	size_t others;	    /* barriers in other regions */
	bool is_full;	    /* there were too many: none is kept */
};

/* A wait of the main thread's for the team, and any region or share. */
void step_barriers_see(struct step_barriers *barriers,
		       struct ring_reader *reader, const struct event *event);

/* 0: they tell a step, and nothing else that the main thread did is as much.
 * -ENOENT, -ENOMEM. */
int step_barriers_find(const struct session *session,
		       struct step_barriers *barriers,
		       const struct step_marks *streams, size_t count,
		       struct loop_nest *nest);

/* A window that was cut ends then: the region that it lies in. */
void step_barriers_draw(struct writer_state *state,
			const struct step_barriers *barriers,
			uint64_t end_ticks);

#endif
