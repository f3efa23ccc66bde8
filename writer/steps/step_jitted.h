/* SPDX-License-Identifier: MIT */
/*
 * step_jitted.h - functions of jax.jit that a thread calls, as XLA names them,
 * and what their names say of the loop that they are called in.
 *
 * A function that is called like a step is one, and so is an update that alone
 * is called over and over.  But where several are called so, or a loop around
 * the one holds others, too, the nest of loops decides; and nobody where the
 * two don't agree.
 */
#ifndef WRITER_STEP_JITTED_H
#define WRITER_STEP_JITTED_H

#include "writer/steps/step_marks.h"

/* `rc` and `nest`: what step_marks_find() found among the first `count` marks.
 * 0: there is a step, which is nest's now; else -ENOENT, or what it was. */
int step_jitted_judge(const struct session *session,
		      const struct step_marks *marks, size_t count, int rc,
		      struct loop_nest *nest);

/* Where no step was found: what sets one; "": no function is called there. */
void step_jitted_setting(const struct step_marks *marks, struct naming *naming,
			 char *text, size_t bytes);

#endif
