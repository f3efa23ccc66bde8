/* SPDX-License-Identifier: MIT */
/*
 * step_compiled.h - loops that a compiler made of a function, as XLA does.
 *
 * One call of the function runs them all, so nothing in the program's code
 * turns with them, and which of them a person would count isn't seen: samples,
 * the trees of each, the leaves of those.
 */
#ifndef WRITER_STEP_COMPILED_H
#define WRITER_STEP_COMPILED_H

#include "writer/steps/step_marks.h"

/* Whether nearly all hits of a level lie in one run of a module of XLA's, and
 * its turns are not all alike, as a training's in a loop of a set length are.
 * `ranges` are the same thread's. */
bool step_is_compiled(const struct session *session,
		      const struct step_marks *calls,
		      const struct loop_level *level,
		      const struct step_marks *ranges);

#endif
