/* SPDX-License-Identifier: MIT */
/*
 * step_optimizer.h - of a training in PyTorch the step is what its optimizer
 * steps once in.
 *
 * The regions of a training and of its validation are nearly the same, and few:
 * what turns more often than the optimizer steps is a part of a batch.
 */
#ifndef WRITER_STEP_OPTIMIZER_H
#define WRITER_STEP_OPTIMIZER_H

#include "writer/steps/step_follow.h"

/* In place of a stream's step that turned more often than the optimizers of its
 * thread stepped, by what had come by `ticks`: the stream of their ranges and
 * the level that they tell.  False: there is none, or no reason to. */
bool step_optimizer_find(struct writer_state *state, struct step_marks **stream,
			 uint64_t ticks, struct loop_nest *nest);

#endif
