/* SPDX-License-Identifier: MIT */
/* step_say.c - the search's words; see step_say.h. */
#include "writer/steps/step_say.h"

#include "collector/session/names.h"
#include "collector/system/log.h"

/* "; or kernel "layer", every 1.2 ms: TRACEPROF_STEP=kernel:layer" */
static void add_runner_up(struct writer_state *state,
			  const struct step_marks *stream,
			  const struct loop_nest *nest, char *text,
			  size_t bytes)
{
	const struct loop_level *level = &nest->level[nest->runner_up];
	char setting[160];

	text[0] = '\0';
	if (nest->runner_up >= nest->count)
		return;
	step_marks_setting(stream, level, &state->naming, setting,
			   sizeof(setting));
	if (setting[0])
		log_format(text, bytes, "; or %lu of %s",
			   (unsigned long)level->turns, setting);
}

/* The median, in a unit that leaves it readable. */
static void period_text(const struct writer_state *state,
			const struct loop_level *step, char *text, size_t bytes)
{
	const double us =
		(double)step->ticks * 1e6 /
		(double)clock_ticks_per_second(&state->session->head->clock);

	if (us < 1e3)
		log_format(text, bytes, "%.1f us", us);
	else if (us < 1e6)
		log_format(text, bytes, "%.1f ms", us / 1e3);
	else
		log_format(text, bytes, "%.1f s", us / 1e6);
}

void step_say_found(struct writer_state *state, const struct step_marks *stream,
		    const struct loop_nest *nest)
{
	const struct loop_level *step = &nest->level[nest->step];
	char name[128];
	char time[32];
	char outer[48] = "";
	char other[192];

	step_marks_describe(stream, step->first, &state->naming, name,
			    sizeof(name));
	if (nest->outer)
		log_format(outer, sizeof(outer), "; outer period %lu",
			   (unsigned long)nest->outer);
	add_runner_up(state, stream, nest, other, sizeof(other));
	period_text(state, step, time, sizeof(time));
	if (state->is_live)
		log_say("step = %s, every %s%s%s", name, time, outer, other);
	session_note(state->session, "step = %s, every %s%s%s", name, time,
		     outer, other);
}

void step_say_passed(struct writer_state *state, uint64_t steps)
{
	if (state->is_live)
		log_say("the buffer held no more: the schedule begins after "
			"the first "
			"%lu steps (TRACEPROF_BUFFER_MB)",
			(unsigned long)steps);
	session_note(state->session,
		     "the first %lu steps were past when the step was known: "
		     "the schedule begins after them",
		     (unsigned long)steps);
}

void step_say_none(struct writer_state *state, const char *what)
{
	if (state->is_live)
		log_say("no step found%s; traceprof_step() in the loop marks "
			"one, or "
			"TRACEPROF_STEP=omp:NAME",
			what);
	session_note(state->session, "no step found%s", what);
}
