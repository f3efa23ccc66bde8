/* SPDX-License-Identifier: MIT */
/* step_optimizer.c - ranges of torch.optim; see step_optimizer.h. */
#include "writer/steps/step_optimizer.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include <string.h>

#define PREFIX	     "Optimizer.step#"
#define KINDS_MOST   8u
/* Steps that tell something; and those that may be missing at both ends. */
#define STEPS_LEAST  5u
#define MISSING_MOST 2u
/* Optimizers that step in turn. */
#define TURNS_MOST   4u
/* Of a stream's marks so many percent lie between its first and last step. */
#define COVERS_LEAST 40u

/* One class of optimizers. */
struct kind {
	uint64_t id;
	size_t first, steps;
};

static struct step_marks *ranges_of(struct step_finder *finder, uint32_t tid)
{
	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->tid == tid && stream->family == SEARCH_RANGES)
			return stream;
	}
	return NULL;
}

static struct kind *kind_of(struct kind *kinds, size_t *count, uint64_t id)
{
	for (size_t i = 0; i < *count; i++) {
		if (kinds[i].id == id)
			return &kinds[i];
	}
	if (*count == KINDS_MOST)
		return NULL;
	kinds[*count] = (struct kind){.id = id};
	return &kinds[(*count)++];
}

/* All steps that had ended by then, and the class that stepped most. */
static size_t count_steps(const struct session *session,
			  const struct step_marks *ranges, uint64_t ticks,
			  struct kind *most)
{
	const struct loop_mark *marks = step_marks(ranges);
	struct kind kinds[KINDS_MOST];
	size_t count = 0, steps = 0, len;

	*most = (struct kind){0};
	for (size_t i = 0; i < ranges->count; i++) {
		const char *name =
			names_text(session, (uint32_t)marks[i].note, &len);
		struct kind *kind;

		if (marks[i].end_ticks > ticks ||
		    strncmp(name, PREFIX, strlen(PREFIX)))
			continue;
		steps++;
		kind = kind_of(kinds, &count, marks[i].id);
		if (!kind)
			continue;
		if (!kind->steps++)
			kind->first = i;
		if (kind->steps > most->steps)
			*most = *kind;
	}
	return steps;
}

/* Marks between a class's steps, as those come. */
struct between {
	size_t count[TURNS_MOST + 1]; /* the newest first */
	size_t seen;
	size_t same[TURNS_MOST + 1]; /* as so many steps before */
};

static void add_between(struct between *between, size_t count)
{
	memmove(between->count + 1, between->count,
		TURNS_MOST * sizeof(between->count[0]));
	between->count[0] = count;
	between->seen++;
	for (size_t back = 1; back <= TURNS_MOST && back < between->seen;
	     back++)
		between->same[back] += between->count[back] == count;
}

/* The least number of steps after which the same comes again. */
static size_t turns_of(const struct between *between)
{
	for (size_t back = 1; back <= TURNS_MOST; back++) {
		const size_t compared =
			between->seen - min_u64(between->seen, back);

		/* Validations lie between some of them. */
		if (compared >= STEPS_LEAST &&
		    between->same[back] >= compared - compared / 4)
			return back;
	}
	return 1;
}

/* One line, and some work before each step: it is one optimizer, or several
 * that each have their turn in a loop.  Of one, all turns but one are alike:
 * the epochs of what was played before them. */
static bool is_one_of_many(const struct between *between, size_t turns)
{
	size_t least = SIZE_MAX, most = 0, usual = 0;

	for (size_t i = 0; i < turns; i++) {
		least = min_u64(least, between->count[i]);
		most = max_u64(most, between->count[i]);
	}
	for (size_t i = 0; i < turns; i++)
		usual += between->count[i] == least;
	return turns > 2 && least && most > least && usual + 1 == turns;
}

struct turns {
	size_t between; /* by what lies between the steps */
	size_t lines;	/* by the lines of Python; 1 each is from one, 0 they
			   aren't known, or don't tell */
	size_t count;	/* by both */
};

/* How many optimizers of one name step in turn. */
static struct turns count_turns(const struct step_marks *ranges,
				const struct kind *kind,
				const struct step_marks *stream, uint64_t ticks)
{
	const struct loop_mark *steps = step_marks(ranges);
	const struct loop_mark *marks = step_marks(stream);
	struct between between = {.seen = 0}, lines = {.seen = 0};
	struct turns turns = {.between = 1};
	bool is_known = true, is_one = true;
	size_t at = 0;

	for (size_t i = kind->first; i < ranges->count; i++) {
		const size_t before = at;
		const size_t line = steps[i].note >> 32;

		if (steps[i].id != kind->id || steps[i].end_ticks > ticks)
			continue;
		while (at < stream->count && marks[at].ticks < steps[i].ticks)
			at++;
		/* What lies before the first isn't known. */
		if (i > kind->first)
			add_between(&between, at - before);
		add_between(&lines, line);
		is_known &= line != 0;
		is_one &= line == lines.count[1] || lines.seen == 1;
	}
	if (stream != ranges)
		turns.between = turns_of(&between);
	if (is_known)
		turns.lines = turns_of(&lines) > 1 ? turns_of(&lines) : is_one;
	turns.count =
		turns.lines > 1 ? turns.lines
		: turns.lines == 1 && is_one_of_many(&between, turns.between)
			? 1
			: turns.between;
	return turns;
}

enum step_optimizer step_optimizer_find(struct writer_state *state,
					struct step_marks **stream,
					uint64_t ticks, struct loop_nest *nest)
{
	struct step_marks *ranges = ranges_of(state->finder, (*stream)->tid);
	const size_t turns = nest->level[nest->step].turns;
	struct kind most;
	size_t steps;

	if (!ranges)
		return OPTIMIZER_NONE;
	steps = count_steps(state->session, ranges, ticks, &most);
	if (steps < STEPS_LEAST)
		return OPTIMIZER_NONE;
	if (turns + turns / 20 + MISSING_MOST >= most.steps &&
	    count_turns(ranges, &most, *stream, ticks).count > 1)
		return OPTIMIZER_DOUBT;
	if (ranges == *stream)
		return OPTIMIZER_NONE;
	if (turns <= steps + steps / 20 + MISSING_MOST)
		return OPTIMIZER_NONE;
	*nest = (struct loop_nest){.count = 1, .runner_up = 1};
	step_marks_find_site(ranges, most.first, &nest->level[0]);
	*stream = ranges;
	return OPTIMIZER_FOUND;
}

/* The stream of a thread's regions, or else its ranges. */
static struct step_marks *work_of(struct step_finder *finder,
				  struct step_marks *ranges)
{
	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->tid == ranges->tid &&
		    stream->family == SEARCH_REGIONS && stream->count)
			return stream;
	}
	return ranges;
}

/* Most of the work lies between a class's first step and its last. */
static bool covers(const struct step_marks *ranges, const struct kind *kind,
		   const struct step_marks *stream)
{
	const struct loop_mark *steps = step_marks(ranges);
	size_t last = kind->first;

	for (size_t i = kind->first; i < ranges->count; i++)
		if (steps[i].id == kind->id)
			last = i;
	return (step_marks_before(stream, steps[last].ticks) -
		step_marks_before(stream, steps[kind->first].ticks)) *
		       100 >=
	       stream->count * COVERS_LEAST;
}

struct step_marks *step_optimizer_alone(struct writer_state *state,
					struct loop_nest *nest)
{
	struct step_finder *finder = state->finder;
	struct step_marks *ranges = ranges_of(finder, step_main_tid(state));
	struct step_marks *work;
	struct turns turns;
	struct kind most;

	if (!ranges || count_steps(state->session, ranges, UINT64_MAX, &most) !=
			       most.steps)
		return NULL;
	work = work_of(finder, ranges);
	turns = count_turns(ranges, &most, work, UINT64_MAX);
	if (most.steps < STEPS_LEAST || turns.lines != 1 || turns.count != 1 ||
	    !covers(ranges, &most, work))
		return NULL;
	*nest = (struct loop_nest){.count = 1, .runner_up = 1};
	step_marks_find_site(ranges, most.first, &nest->level[0]);
	return ranges;
}

void step_optimizer_setting(struct writer_state *state,
			    const struct step_marks *stream, char *text,
			    size_t bytes)
{
	const struct step_finder *finder = state->finder;
	const char *name = "";
	size_t steps = 0, turns = 1, len;

	for (size_t i = 0; i < finder->stream_count; i++) {
		const struct step_marks *ranges = &finder->streams[i];
		struct kind most;

		if (ranges->family != SEARCH_RANGES)
			continue;
		count_steps(state->session, ranges, UINT64_MAX, &most);
		if (most.steps < STEPS_LEAST || most.steps <= steps)
			continue;
		steps = most.steps;
		name = names_text(state->session,
				  (uint32_t)step_marks(ranges)[most.first].note,
				  &len);
		turns = stream ? count_turns(ranges, &most, stream, UINT64_MAX)
					 .count
			       : 1;
	}
	text[0] = '\0';
	if (!steps)
		return;
	log_format(text, bytes, "TRACEPROF_STEP=range:%s (%lu steps)", name,
		   (unsigned long)steps);
	len = strlen(text);
	if (turns > 1)
		log_format(text + len, bytes - len,
			   " or TRACEPROF_STEP=range:%s/%lu (%lu steps)", name,
			   (unsigned long)turns,
			   (unsigned long)(steps / turns));
}
