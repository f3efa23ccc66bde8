/* SPDX-License-Identifier: MIT */
/* step_say.c - the search's words; see step_say.h. */
#include "writer/steps/step_say.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include <string.h>

#define SETTING_MAX	 160u
/* Sites of which two that can be set are said. */
#define LIKELIEST_LOOKED 8u
/* Of 10 marks so many are at a site that is the run. */
#define RUN		 9u
#define RUN_OF		 10u

/* How often a setting is hit from one turn of a level to the next, since it
 * means each site of its name; 0 not always as often, or before them too. */
static size_t hits_in_turn(struct writer_state *state,
			   const struct step_marks *stream,
			   const struct loop_level *level, const char *setting)
{
	struct loop_level sites[STEP_SITES_COUNTED];
	const struct loop_mark *marks = step_marks(stream);
	const size_t count =
		step_marks_frequent(stream, sites, STEP_SITES_COUNTED);
	size_t before = 0, within = 0, each;
	char other[SETTING_MAX];

	for (size_t s = 0; s < count; s++) {
		step_marks_setting(stream, &sites[s], &state->naming, other,
				   sizeof(other));
		if (strcmp(other, setting) != 0)
			continue;
		for (size_t i = 0; i <= level->last; i++) {
			before +=
				i <= level->first && marks[i].id == sites[s].id;
			within +=
				i > level->first && marks[i].id == sites[s].id;
		}
	}
	each = within / (level->turns - 1);
	return within == each * (level->turns - 1) && before <= 2 * each ? each
									 : 0;
}

/* A trace tells the level's site from all others, and so does the command. */
static bool is_in_trace(struct writer_state *state,
			const struct step_marks *stream,
			const struct loop_level *level)
{
	struct loop_level sites[STEP_SITES_COUNTED];
	const size_t count =
		step_marks_frequent(stream, sites, STEP_SITES_COUNTED);
	char name[SETTING_MAX], other[SETTING_MAX];

	step_marks_trace_name(stream, level->first, &state->naming, name,
			      sizeof(name));
	for (size_t s = 0; s < count; s++) {
		step_marks_trace_name(stream, sites[s].first, &state->naming,
				      other, sizeof(other));
		if (sites[s].id != level->id && !strcmp(name, other))
			return false;
	}
	return true;
}

/* "; or 65 of TRACEPROF_STEP=omp:layer": only what a run would find so. */
static void add_runner_up(struct writer_state *state,
			  const struct step_marks *stream,
			  const struct loop_nest *nest, char *text,
			  size_t bytes)
{
	const struct loop_level *level = &nest->level[nest->runner_up];
	char setting[SETTING_MAX];
	char every[24] = "";
	size_t each;

	text[0] = '\0';
	if (nest->runner_up >= nest->count || level->turns < 2)
		return;
	step_marks_setting(stream, level, &state->naming, setting,
			   sizeof(setting));
	if (!setting[0])
		return;
	each = hits_in_turn(state, stream, level, setting);
	if (each > 1)
		log_format(every, sizeof(every), "/%lu", (unsigned long)each);
	if (each)
		log_format(text, bytes, "; or %lu of %s%s",
			   (unsigned long)level->turns, setting, every);
	else if (is_in_trace(state, stream, level))
		log_format(text, bytes, "; or %lu by `traceprof steps`",
			   (unsigned long)level->turns);
}

/* The median. */
static void period_text(const struct writer_state *state,
			const struct loop_level *step, char *text, size_t bytes)
{
	const double us =
		(double)step->ticks * 1e6 /
		(double)clock_ticks_per_second(&state->session->head->clock);

	log_time(text, bytes, us);
}

/* A name that had no room for all of it has its end all the same. */
static void close_name(char *name, size_t bytes)
{
	static const char end[] = "...\"";
	const size_t len = strlen(name);

	if (len + 1 >= bytes && name[len - 1] != '"')
		memcpy(name + bytes - sizeof(end), end, sizeof(end));
}

void step_say_found(struct writer_state *state, const struct step_marks *stream,
		    const struct loop_nest *nest)
{
	const struct loop_level *step = &nest->level[nest->step];
	char name[128];
	char each[32] = "";
	char time[32];
	char outer[48] = "";
	char other[192];

	step_marks_describe(stream, step->first, &state->naming, name,
			    sizeof(name));
	close_name(name, sizeof(name));
	if (step->every > 1)
		log_format(each, sizeof(each), ", one in %lu",
			   (unsigned long)step->every);
	if (nest->outer)
		log_format(outer, sizeof(outer), "; outer period %lu",
			   (unsigned long)nest->outer);
	add_runner_up(state, stream, nest, other, sizeof(other));
	period_text(state, step, time, sizeof(time));
	if (state->is_live)
		log_say("step = %s%s, every %s%s%s", name, each, time, outer,
			other);
	session_note(state->session, "step = %s%s, every %s%s%s", name, each,
		     time, outer, other);
}

void step_say_passed(struct writer_state *state, uint64_t steps)
{
	if (state->is_live)
		log_say("the buffer held no more: the schedule begins after "
			"the first %lu {step|steps} (TRACEPROF_BUFFER_MB)",
			(unsigned long)steps);
	session_note(state->session,
		     "the first %lu {step was|steps were} past when the step "
		     "was known: the schedule begins after that",
		     (unsigned long)steps);
}

void step_say_own(struct writer_state *state, bool is_counted_on)
{
	static const char text[] =
		"traceprof_step() was called: from then on it begins the steps";
	const char *how = is_counted_on ? ", which are counted on"
					: ", which are counted from 0 again";

	if (state->is_live)
		log_say("%s%s", text, how);
	session_note(state->session, "%s%s", text, how);
}

/* Levels that may be the step: those that were weighed, or what came most. */
static size_t likeliest(struct step_marks *stream, struct loop_level *found,
			size_t most, bool *are_levels)
{
	struct loop_nest nest;
	size_t count = 0;

	step_marks_find(stream, stream->count, &nest);
	if (nest.count)
		found[count++] = nest.level[nest.step];
	if (nest.runner_up < nest.count && nest.runner_up != nest.step)
		found[count++] = nest.level[nest.runner_up];
	*are_levels = count;
	return count ? count : step_marks_frequent(stream, found, most);
}

/* What no name tells, the command takes over by its number. */
static void add_unnamed(const size_t *turns, size_t count, char *text,
			size_t bytes)
{
	const size_t len = strlen(text);
	const char * or = len ? " or " : "";

	if (count > 1)
		log_format(text + len, bytes - len,
			   "%s`traceprof steps` (loops of %lu and %lu turns)",
			   or, (unsigned long)turns[0],
			   (unsigned long)turns[1]);
	else if (count)
		log_format(text + len, bytes - len,
			   "%s`traceprof steps` (a loop of %lu turns)", or,
			   (unsigned long)turns[0]);
}

/* As often as a setting would begin a step: it means each region of the name,
 * and `least` is one of them. */
static size_t count_steps(struct writer_state *state, struct step_marks *stream,
			  const char *setting, size_t least)
{
	struct loop_level sites[STEP_SITES_COUNTED];
	const size_t count =
		step_marks_frequent(stream, sites, STEP_SITES_COUNTED);
	char other[SETTING_MAX];
	size_t steps = 0;

	for (size_t i = 0; i < count; i++) {
		step_marks_setting(stream, &sites[i], &state->naming, other,
				   sizeof(other));
		if (!strcmp(other, setting))
			steps += sites[i].turns;
	}
	return max_u64(steps, least);
}

/* How often a site comes in each turn of a loop around its own, where both are
 * seen to turn and that is always as often; 0 else. */
static size_t count_in_round(const struct step_marks *stream,
			     const struct loop_level *site)
{
	const struct loop_mark *marks = step_marks(stream);
	size_t each = 0, now = 0;

	for (size_t i = site->first; i < stream->count; i++) {
		if (marks[i].id != site->id)
			continue;
		if (marks[i].turn < SEARCH_TURN_NEXT ||
		    marks[i].caller != marks[site->first].caller)
			return 0;
		if (marks[i].turn == SEARCH_TURN_ROUND && now) {
			if (each && now != each)
				return 0;
			each = now;
			now = 0;
		}
		now++;
	}
	return now == each && each > 1 ? each : 0;
}

/* The run is that site, called from a place or two: so many of them may be a
 * step.  A matrix product that is called from everywhere is none's. */
static bool is_run(const struct step_marks *stream,
		   const struct loop_level *site)
{
	const struct loop_mark *marks = step_marks(stream);
	const uint16_t first = marks[site->first].caller;
	uint16_t second = first;

	for (size_t i = site->first; i < stream->count; i++) {
		if (marks[i].id != site->id || marks[i].caller == first ||
		    marks[i].caller == second)
			continue;
		if (second != first)
			return false;
		second = marks[i].caller;
	}
	return site->turns * RUN_OF >= stream->count * RUN;
}

/* " or TRACEPROF_STEP=omp:sweep/12 (25 steps)", or "/N" where nobody knows how
 * many of them are a step.  False: neither. */
static bool add_rounds(const struct step_marks *stream,
		       const struct loop_level *site, const char *setting,
		       size_t steps, char *text, size_t bytes)
{
	const size_t each =
		steps == site->turns ? count_in_round(stream, site) : 0;
	const size_t len = strlen(text);

	if (each)
		log_format(text + len, bytes - len,
			   " or %s/%lu (%lu {step|steps})", setting,
			   (unsigned long)each, (unsigned long)(steps / each));
	else if (is_run(stream, site))
		log_format(text + len, bytes - len, " or %s/N (each Nth)",
			   setting);
	return strlen(text) > len;
}

/* "TRACEPROF_STEP=omp:update (40 steps) or TRACEPROF_STEP=omp:loss (60 steps)" */
static void add_likeliest(struct writer_state *state, struct step_marks *stream,
			  char *text, size_t bytes)
{
	struct loop_level found[LIKELIEST_LOOKED];
	bool are_levels = false;
	const size_t count =
		stream ? likeliest(stream, found, LIKELIEST_LOOKED, &are_levels)
		       : 0;
	char setting[2][SETTING_MAX] = {"", ""};
	size_t unnamed[2];
	size_t said = 0, others = 0;
	size_t len = 0;
	size_t steps, each;

	text[0] = '\0';
	for (size_t i = 0; i < count && said < 2 && len + 1 < bytes; i++) {
		step_marks_setting(stream, &found[i], &state->naming,
				   setting[said], sizeof(setting[said]));
		steps = setting[said][0]
				? count_steps(state, stream, setting[said],
					      found[i].turns)
				: 0;
		if (are_levels && (!steps || steps % found[i].turns)) {
			unnamed[others++] = found[i].turns;
			continue;
		}
		if (!steps || (said && !strcmp(setting[0], setting[1])))
			continue;
		each = steps % found[i].turns ? 1 : steps / found[i].turns;
		log_format(text + len, bytes - len, "%s%s", len ? " or " : "",
			   setting[said]);
		len = strlen(text);
		if (each > 1)
			log_format(text + len, bytes - len, "/%lu",
				   (unsigned long)each);
		len = strlen(text);
		log_format(text + len, bytes - len, " (%lu {step|steps})",
			   (unsigned long)(steps / each));
		if (!are_levels && !said &&
		    add_rounds(stream, &found[i], setting[said], steps, text,
			       bytes))
			break;
		len = strlen(text);
		said++;
	}
	add_unnamed(unnamed, others, text, bytes);
	len = strlen(text);
	/* Of the heap or of samples alone there is nothing to name. */
	if (!len)
		log_format(text, bytes, "TRACEPROF_STEP=%s",
			   stream && stream->count
				   ? "omp:NAME"
				   : "time:500 (in milliseconds)");
}

void step_say_none(struct writer_state *state, struct step_marks *stream,
		   const char *setting, const char *what)
{
	char likely[400];

	if (setting[0])
		log_format(likely, sizeof(likely), "%s", setting);
	else
		add_likeliest(state, stream, likely, sizeof(likely));
	if (state->is_live)
		log_say("no step found%s; %s sets one, or traceprof_step() in "
			"the loop",
			what, likely);
	session_note(state->session, "no step found%s; %s sets one", what,
		     likely);
}
