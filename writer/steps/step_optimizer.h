/* SPDX-License-Identifier: MIT */
/*
 * step_optimizer.h - of a training in PyTorch the step is what its optimizer
 * steps once in.
 *
 * The regions of a training and of its validation are nearly the same, and few:
 * what turns more often than the optimizer steps is a part of a batch.
 *
 * Two optimizers of one class have one name (a GAN's).  They step from two
 * lines of Python; where those aren't known, what lies between their steps
 * comes by turns: it is the work of one and of the other.
 */
#ifndef WRITER_STEP_OPTIMIZER_H
#define WRITER_STEP_OPTIMIZER_H

#include "writer/steps/step_follow.h"

enum step_optimizer {
	OPTIMIZER_NONE,	 /* there is none, or no reason to ask it */
	OPTIMIZER_FOUND, /* the stream and the level are its own now */
	OPTIMIZER_DOUBT	 /* several of one name step in turn */
};

/* What a stream's step is, told by the optimizers of its thread and what had
 * come by `ticks`: where it turned more often than they stepped, the stream of
 * their ranges and the level that those tell take its place. */
enum step_optimizer step_optimizer_find(struct writer_state *state,
					struct step_marks **stream,
					uint64_t ticks, struct loop_nest *nest);

/* Where no loop was found that is a step: the stream and the level of the one
 * optimizer that the main thread calls, from one line of Python; NULL: there is
 * none, or several, or most of the run is something else. */
struct step_marks *step_optimizer_alone(struct writer_state *state,
					struct loop_nest *nest);

/* The setting that counts the steps of the class that stepped most, a few times
 * at least, and in turns if they may be such by what lies between in `stream`.  "":
 * there is none.  Of a training in PyTorch nothing is likelier. */
void step_optimizer_setting(struct writer_state *state,
			    const struct step_marks *stream, char *text,
			    size_t bytes);

#endif
