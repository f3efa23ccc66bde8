/* SPDX-License-Identifier: MIT */
/*
 * step_cut.h - a schedule's windows, cut from events that were kept.
 *
 * While the step is searched for all is recorded and stays in the rings.
 * Once it is known the writer follows the steps from the first one on, a
 * little after the thread, and adds a window to the table for each span that
 * the schedule records: a window that lies in the past, drained as any other.
 * So the windows are those that the thread itself would have opened, however
 * late the step was understood.
 *
 * What is no longer kept is past: then the schedule begins later, and `passed`
 * says by how many steps.
 */
#ifndef WRITER_STEP_CUT_H
#define WRITER_STEP_CUT_H

#include "collector/control/window.h"
#include "writer/steps/step_marks.h"

struct step_cut {
	const struct step_marks *of;
	const struct loop_level *level;
	struct schedule schedule;
	struct step_turns turns;
	uint64_t passed;

	size_t seen;	/* marks that were looked at */
	int64_t step;	/* that is running, -1 none yet */
	uint64_t ticks; /* when it began */
	int64_t cycle;	/* of the window that is cut, -1 none */
	int64_t first;	/* its first step, */
	uint64_t start; /* and when that began */
	bool is_open;	/* it is in the table already, and open */
	uint64_t skip;	/* so many are there from before */
};

/* Windows from the first step on that began at `kept_ticks` or later. */
void step_cut_start(struct step_cut *cut, const struct step_marks *of,
		    const struct loop_level *level,
		    const struct options *options, uint64_t divisor,
		    uint64_t kept_ticks);

/* Follows the steps through the first `count` marks.  False: a window found no
 * place in the table; to be called again. */
bool step_cut_run(struct step_cut *cut, struct window_state *windows,
		  size_t count);

/* The run is over, and had so many whole steps, the last of which ended then.
 * The window that is being cut ends with it.  False: as step_cut_run(). */
bool step_cut_end(struct step_cut *cut, struct window_state *windows,
		  int64_t steps, uint64_t end_ticks);

/* The schedule's last window has been cut. */
bool step_cut_is_over(const struct step_cut *cut);

/* What ended before this is in no window that is still to be cut. */
uint64_t step_cut_keep(const struct step_cut *cut);

/* The thread may take over: what is recorded doesn't change for some steps, and
 * what is to be recorded now is in the table.  `is_full`: there is no more room
 * to keep it. */
bool step_cut_hand_over(struct step_cut *cut, struct window_state *windows,
			bool is_full);

#endif
