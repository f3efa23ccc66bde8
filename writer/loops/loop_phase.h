/* SPDX-License-Identifier: MIT */
/*
 * loop_phase.h - what a run does before the step's first turn and behind its
 * last one: another loop there may be what the program is for, too.
 *
 * A run that makes a model in 40 rounds and explains it 30 times has two loops
 * in turn, and neither is more of a step than the other, however long it takes.
 * But what only validates or generates with the step's own sites is no loop of
 * that kind, nor is a short one that begins the run.
 */
#ifndef WRITER_LOOP_PHASE_H
#define WRITER_LOOP_PHASE_H

#include "writer/loops/loop_nest.h"

/* The step of `nest`, which was found in those marks, has another loop beside
 * it; then that one is the runner-up.  `room` as for loop_nest_find(). */
bool loop_phase_is_beside(const struct loop_mark *marks, size_t count,
			  void *room, struct loop_nest *nest);

#endif
