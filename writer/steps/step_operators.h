/* SPDX-License-Identifier: MIT */
/*
 * step_operators.h - how often PyTorch's operators came, against layers that
 * are taken for steps.
 *
 * A model may have all of its regions in its layers: then nothing comes between
 * two requests, and each layer looks like one.  But what goes into the first
 * layer and comes out of the last is computed by operators, once in a request.
 */
#ifndef WRITER_STEP_OPERATORS_H
#define WRITER_STEP_OPERATORS_H

#include "writer/steps/step_marks.h"

#define STEP_OPERATORS_MAX 256u

struct step_operators {
	struct step_operator {
		uint32_t name, tid;
		size_t calls; /* 0: no operator's */
	} of[STEP_OPERATORS_MAX];
};

/* One came; those of a name that finds no room are left out. */
void step_operators_add(struct step_operators *operators, uint32_t name,
			uint32_t tid);

/* An operator of the level's thread came once in so many of its turns as a
 * model may have layers, and nothing but the turns is in the stream, or as many
 * regions each time that the operator came. */
bool step_operators_tell_layers(const struct step_operators *operators,
				const struct step_marks *stream,
				const struct loop_level *level);

#endif
