/* SPDX-License-Identifier: MIT */
/*
 * step_finder.h - TRACEPROF_STEP=auto: looks for the step in what is drained.
 *
 * Each thread's regions, and its ranges, are a stream of marks.  Now and then
 * period_find() looks at the largest ones; what it finds is handed to the
 * thread whose loop it is (collector/control/search.h), and the steps before
 * that are drawn from the marks that were kept.  A range that is called like a
 * step needs no search, and goes before all others.
 *
 * With a schedule the search comes before the first window: the gate is open,
 * no file is.  Events stay in their rings meanwhile, as far as half of the
 * buffer goes, so that a run that turns out to have no period is recorded whole
 * all the same.
 */
#ifndef WRITER_STEP_FINDER_H
#define WRITER_STEP_FINDER_H

#include "collector/session/session.h"

struct writer_state;
struct ring_reader;

/* The state's part of it; frees what it held before.  Where nothing is
 * searched for, the functions below do nothing. */
void step_finder_start(struct writer_state *state);
void step_finder_end(struct writer_state *state);

/* An event that the scan came by, in the order of its ring. */
void step_finder_see(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event);

/* True while the events in the rings are to stay there. */
bool step_finder_holds(struct writer_state *state);

/* Each pass, after the rings were scanned. */
void step_finder_run(struct writer_state *state);

/* Nothing more comes: before the last window is looked at. */
void step_finder_stop(struct writer_state *state);

/* Before a file is closed: the last steps, if it holds the whole run. */
void step_finder_draw_rest(struct writer_state *state, uint64_t end_ticks);

#endif
