/* SPDX-License-Identifier: MIT */
/*
 * last_step.h - where a run's last step ended.
 *
 * A step ends where the next one begins, and after the last one nothing does:
 * it would last to the program's end and hold all that follows the loop.  So
 * regions, ranges and marks on the stepping thread are counted, and where a
 * kernel or a call of CUDA's begins the steps, its calls that put work on a
 * GPU (steps_work()): the last step ends with the last of them, or with as many
 * as any step before it had.  Where steps have none, nothing tells, and it
 * lasts to the end.
 *
 * That end was chosen here, so it may lie within other slices: the step lies on
 * its thread's lane only where it crosses none of them.
 */
#ifndef WRITER_LAST_STEP_H
#define WRITER_LAST_STEP_H

#include "writer/state/writer_state.h"

/* An event of its reader's thread, in the order of its ring: EVENT_STEP, or
 * what a step may hold.  `event` itself, or `ended`: the last step as it is to
 * be drawn. */
const struct event *last_step_see(struct ring_reader *reader,
				  const struct event *event,
				  struct event *ended);

#endif
