/* SPDX-License-Identifier: MIT */
/*
 * step_finder.h - TRACEPROF_STEP=auto: looks for the step in what is drained.
 *
 * Each thread's regions, and its ranges, are a stream of marks, in which
 * loop_nest_find() looks for the step.  A range that is called like a step
 * needs no search, and goes before all others.
 *
 * Without a schedule everything is recorded anyway: the step is looked for when
 * the run is over, or when marks take too much room, and drawn from the first
 * turn on.
 *
 * With a schedule the gate is open, no file is, and events stay in their
 * rings.  The step is taken for certain when it has not changed while the run
 * became twice as long, when half of the buffer is full, or when the run is
 * over.  Then the schedule's windows are cut from what is kept (step_cut.h),
 * until the thread whose loop it is counts its steps itself
 * (collector/control/search.h).
 *
 * With the flight recorder the thread is to count as soon as it is certain.
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

/* The same for a process that is dead, when its rings are known: the end of its
 * run is looked at as that of a run that ended. */
void step_finder_recover(struct writer_state *state);

/* An event that the scan came by, in the order of its ring. */
void step_finder_see(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event);

/* Marks are wanted as soon as they come. */
bool step_finder_waits(const struct writer_state *state);

/* What ended before this may be drained: UINT64_MAX: all. */
uint64_t step_finder_keep(struct writer_state *state);

/* Each pass, after the rings were scanned. */
void step_finder_run(struct writer_state *state);

/* Steps begun so far, as far as the writer or the thread knows. */
int64_t step_finder_steps(const struct writer_state *state);

/* Nothing more comes: before the last windows are looked at.  False: the table
 * of windows has no room for all of them; step_finder_cut() goes on, with the
 * same answer, when some are written. */
bool step_finder_stop(struct writer_state *state);
bool step_finder_cut(struct writer_state *state);

/* The same where a whole run is recorded, and all marks were seen: no other is
 * looked at. */
void step_finder_find(struct writer_state *state);

/* What that takes, with so many events to come; 0: nothing is looked for. */
uint64_t step_finder_takes_ns(const struct writer_state *state,
			      uint64_t events);

/* A whole run goes on in a next part: the step is decided on now, by all that
 * came so far, so that the part that is closed has its own; where there is none
 * yet it is looked for again. */
void step_finder_part(struct writer_state *state);

/* Before a file is closed that ends then: the steps in it. */
void step_finder_draw(struct writer_state *state, uint64_t end_ticks);

#endif
