/* SPDX-License-Identifier: MIT */
/*
 * step_backward.h - a PyTorch training without an optimizer of PyTorch's: how
 * often the loss was run backward, against the loop that was found.
 *
 * Its regions are those of products of matrices, one like the other: a forward
 * pass that tests the model looks like a layer, or like a step.  But
 * `loss.backward()` makes its first gradient by one call of `aten::ones_like`,
 * and what is changed in place each time, gradients or weights, says that a
 * step has one of them.
 */
#ifndef WRITER_STEP_BACKWARD_H
#define WRITER_STEP_BACKWARD_H

#include "writer/steps/step_operators.h"

enum step_backward {
	BACKWARD_UNKNOWN,
	BACKWARD_IS_STEP, /* what was found, or another level of the nest, which
			     is the step now, turns as often */
	BACKWARD_OTHER	  /* nothing does, or a step may have several */
};

enum step_backward step_backward_compare(const struct session *session,
					 const struct step_operators *operators,
					 const struct step_marks *stream,
					 struct loop_nest *nest);

#endif
