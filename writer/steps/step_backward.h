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

/* False: what was found turns otherwise, and no other level of the nest as
 * often as that; true: it may be the step, which may be another level now. */
bool step_backward_agrees(const struct session *session,
			  const struct step_operators *operators,
			  const struct step_marks *stream,
			  struct loop_nest *nest);

#endif
