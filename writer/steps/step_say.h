/* SPDX-License-Identifier: MIT */
/*
 * step_say.h - what was found, or not, in one line and in the trace's notes.
 */
#ifndef WRITER_STEP_SAY_H
#define WRITER_STEP_SAY_H

#include "writer/steps/step_marks.h"

void step_say_found(struct writer_state *state, const struct step_marks *stream,
		    const struct loop_nest *nest);

/* So many steps were past when the step was known. */
void step_say_passed(struct writer_state *state, uint64_t steps);

/* What was found begins no more steps. */
void step_say_own(struct writer_state *state, bool is_counted_on);

/* `what` follows: what becomes of the run.  `setting` would decide it, with how
 * many steps there are by it; "": what the stream that tells most has, if any. */
void step_say_none(struct writer_state *state, struct step_marks *stream,
		   const char *setting, const char *what);

#endif
