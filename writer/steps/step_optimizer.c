/* SPDX-License-Identifier: MIT */
/* step_optimizer.c - ranges of torch.optim; see step_optimizer.h. */
#include "writer/steps/step_optimizer.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include "writer/loops/loop_within.h"
#include <stdlib.h>
#include <string.h>

#define PREFIX	     "Optimizer.step#"
#define KINDS_MOST   8u
/* Steps that tell something; and those that may be missing at both ends. */
#define STEPS_LEAST  5u
#define MISSING_MOST 2u
/* Optimizers that step in turn. */
#define TURNS_MOST   4u
/* A place's line, and above it the object. */
#define LINE_BITS    20u
#define LINES	     ((1u << LINE_BITS) - 1)
/* Of so many steps one comes from another line than the one before it. */
#define MIXED_OF     10u
/* Another class that steps before or behind all of one's steps, of which it has
 * one in so many, is another training. */
#define PHASE_OF     2u
/* Of a stream's marks so many percent lie between its first and last step. */
#define COVERS_LEAST 40u

/* One class of optimizers. */
struct kind {
	uint64_t id;
	uint32_t name;
	size_t first, steps;
};

struct kinds {
	struct kind kind[KINDS_MOST];
	size_t count;
	size_t steps;  /* of all, */
	bool is_alike; /* ... of which two differ in a number alone */
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

/* Those that a thread's work is measured by: what has none of its own works for
 * the main thread, as the one that goes back through the layers. */
static struct step_marks *ranges_for(const struct writer_state *state,
				     uint32_t tid)
{
	struct step_marks *ranges = ranges_of(state->finder, tid);

	return ranges ? ranges : ranges_of(state->finder, step_main_tid(state));
}

static struct kind *kind_of(struct kinds *kinds, const struct loop_mark *mark)
{
	const uint32_t name = (uint32_t)mark->note;

	for (size_t i = 0; i < kinds->count; i++) {
		if (kinds->kind[i].id != mark->id)
			continue;
		kinds->is_alike |= kinds->kind[i].name != name;
		return &kinds->kind[i];
	}
	if (kinds->count == KINDS_MOST)
		return NULL;
	kinds->kind[kinds->count] = (struct kind){.id = mark->id, .name = name};
	return &kinds->kind[kinds->count++];
}

/* All steps that had ended by then, and the class that stepped most. */
static struct kind count_steps(const struct session *session,
			       const struct step_marks *ranges, uint64_t ticks,
			       struct kinds *kinds)
{
	const struct loop_mark *marks = step_marks(ranges);
	struct kind most = {0};
	size_t len;

	*kinds = (struct kinds){.count = 0};
	for (size_t i = 0; i < ranges->count; i++) {
		const char *name =
			names_text(session, (uint32_t)marks[i].note, &len);
		struct kind *kind;

		if (marks[i].end_ticks > ticks ||
		    strncmp(name, PREFIX, strlen(PREFIX)))
			continue;
		kinds->steps++;
		kind = kind_of(kinds, &marks[i]);
		if (!kind)
			continue;
		if (!kind->steps++)
			kind->first = i;
		if (kind->steps > most.steps)
			most = *kind;
	}
	return most;
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
	size_t between;	 /* by what lies between the steps */
	size_t lines;	 /* by the lines of Python; 1 each is from one, 0 they
			   aren't known, or don't tell */
	size_t count;	 /* by both */
	bool is_in_turn; /* each line once, and then all again, always */
	bool is_mixed;	 /* now the one and now the other, in no such order */
	bool is_staged;	 /* the one for long, and then the other: one each */
	bool has_others; /* of one line: by turns it steps for several objects,
			    or for one that is made anew each time */
};

/* Each of so many lines steps once before the first is back. */
static bool is_in_turn(const struct between *lines, size_t turns)
{
	if (turns < 2 || lines->same[turns] != lines->seen - turns)
		return false;
	for (size_t i = 0; i < turns; i++) {
		for (size_t j = 0; j < i; j++) {
			if (lines->count[i] == lines->count[j])
				return false;
		}
	}
	return true;
}

/* How many optimizers of one name step in turn. */
static struct turns count_turns(const struct step_marks *ranges,
				const struct kind *kind,
				const struct step_marks *stream, uint64_t ticks)
{
	const struct loop_mark *steps = step_marks(ranges);
	const struct loop_mark *marks = step_marks(stream);
	struct between between = {.seen = 0}, lines = {.seen = 0};
	struct between objects = {.seen = 0};
	struct turns turns = {.between = 1};
	bool is_known = true, is_one;
	size_t at = 0, changes = 0;

	for (size_t i = kind->first; i < ranges->count; i++) {
		const size_t before = at;
		const size_t line = steps[i].note >> 32 & LINES;

		if (steps[i].id != kind->id || steps[i].end_ticks > ticks)
			continue;
		while (at < stream->count && marks[at].ticks < steps[i].ticks)
			at++;
		/* What lies before the first isn't known. */
		if (i > kind->first)
			add_between(&between, at - before);
		add_between(&lines, line);
		add_between(&objects, steps[i].note >> (32 + LINE_BITS));
		is_known &= line != 0;
		changes += lines.seen > 1 && line != lines.count[1];
	}
	is_one = !changes;
	if (stream != ranges)
		turns.between = turns_of(&between);
	if (is_known)
		turns.lines = turns_of(&lines) > 1 ? turns_of(&lines) : is_one;
	turns.is_in_turn = is_known && is_in_turn(&lines, turns.lines);
	turns.is_mixed = is_known && !turns.is_in_turn &&
			 changes * MIXED_OF >= lines.seen;
	turns.is_staged = is_known && !turns.is_mixed && turns.lines < 2;
	turns.has_others = is_one && is_in_turn(&objects, turns_of(&objects));
	/* One that is made anew has the place of the one before the last. */
	if (turns.has_others && turns_of(&objects) > 2) {
		turns.lines = turns_of(&objects);
		turns.is_in_turn = true;
		turns.has_others = false;
	}
	turns.count =
		turns.lines > 1	   ? turns.lines
		: turns.has_others ? turns_of(&objects)
		: turns.lines == 1 && is_one_of_many(&between, turns.between)
			? 1
			: turns.between;
	return turns;
}

/* The stream of a thread's regions, or else, if there are hardly any, its
 * ranges. */
static struct step_marks *work_of(struct step_finder *finder,
				  struct step_marks *ranges)
{
	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->tid == ranges->tid &&
		    stream->family == SEARCH_REGIONS &&
		    stream->count >= STEPS_LEAST)
			return stream;
	}
	return ranges;
}

static size_t last_of(const struct step_marks *ranges, const struct kind *kind)
{
	const struct loop_mark *steps = step_marks(ranges);
	size_t last = kind->first;

	for (size_t i = kind->first; i < ranges->count; i++)
		if (steps[i].id == kind->id)
			last = i;
	return last;
}

/* Most of the work lies between a class's first step and its last. */
static bool covers(const struct step_marks *ranges, const struct kind *kind,
		   const struct step_marks *stream)
{
	const struct loop_mark *steps = step_marks(ranges);
	const size_t last = last_of(ranges, kind);

	return (step_marks_before(stream, steps[last].ticks) -
		step_marks_before(stream, steps[kind->first].ticks)) *
		       100 >=
	       stream->count * COVERS_LEAST;
}

/* A model is trained by one class, and then by another, about as long: nobody
 * knows which of the two is meant. */
static bool has_other_phase(const struct step_marks *ranges,
			    const struct kinds *kinds, const struct kind *kind)
{
	for (size_t i = 0; i < kinds->count; i++) {
		const struct kind *other = &kinds->kind[i];

		if (other->steps >= STEPS_LEAST &&
		    other->steps * PHASE_OF >= kind->steps &&
		    (other->first > last_of(ranges, kind) ||
		     last_of(ranges, other) < kind->first))
			return true;
	}
	return false;
}

/* Optimizers that always step in turn do so less often than the level turns:
 * that is a part of what lies between (a critic's pass, and an actor's). */
static bool is_part_of_round(const struct step_marks *ranges,
			     const struct kind *kind, const struct turns *of,
			     const struct step_marks *stream, size_t turns)
{
	const size_t rounds = of->lines ? kind->steps / of->lines : 0;

	return of->is_in_turn && stream != ranges && rounds >= STEPS_LEAST &&
	       turns > rounds + rounds / 20 + MISSING_MOST &&
	       covers(ranges, kind, stream);
}

/* Each of several classes steps once before the first of them is back, always:
 * the one that is the last of a round; 0 they don't. */
static size_t count_rounds(const struct step_marks *ranges,
			   const struct kinds *kinds, uint64_t ticks,
			   struct kind *last)
{
	const struct loop_mark *marks = step_marks(ranges);
	uint64_t order[KINDS_MOST];
	size_t steps = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct kind *kind = NULL;

		for (size_t k = 0; k < kinds->count && !kind; k++) {
			if (kinds->kind[k].id == marks[i].id)
				kind = &kinds->kind[k];
		}
		if (!kind || marks[i].end_ticks > ticks)
			continue;
		if (steps < kinds->count) {
			if (kind->first != i)
				return 0;
			order[steps] = kind->id;
			*last = *kind;
		} else if (order[steps % kinds->count] != kind->id) {
			return 0;
		}
		steps++;
	}
	return kinds->count > 1 && steps == kinds->steps ? steps / kinds->count
							 : 0;
}

/* The same where the level is a part of the round: what one of them learns
 * from, and what the other does. */
static bool is_round_of_classes(const struct step_marks *ranges,
				const struct kinds *kinds, uint64_t ticks,
				const struct step_marks *stream, size_t turns,
				struct kind *last)
{
	const size_t rounds = count_rounds(ranges, kinds, ticks, last);

	return rounds >= STEPS_LEAST && stream != ranges &&
	       turns > rounds + rounds / 20 + MISSING_MOST &&
	       covers(ranges, last, stream);
}

/* --- the level that ends with an optimizer's step ------------------------- */

static bool is_more(const void *a, const void *b, const void *arg)
{
	(void)arg;
	return *(const size_t *)a > *(const size_t *)b;
}

/* The median of the work in a turn, in marks, by the hits that had ended by
 * `ticks`; 0 not known. */
static size_t work_in_turn(const struct step_marks *ranges,
			   const struct loop_level *level,
			   const struct step_marks *work, uint64_t ticks)
{
	const struct loop_mark *marks = step_marks(ranges);
	struct array room = {0};
	size_t count = 0, hits = 0, before = 0, median = 0;
	size_t *turns;

	if (array_reserve(&room, (level->turns + 1) * sizeof(*turns)))
		return 0;
	turns = room.base;
	for (size_t i = level->first; i < ranges->count; i++) {
		size_t now;

		if (!loop_level_is_hit(level, marks, i) ||
		    marks[i].end_ticks > ticks ||
		    ++hits % step_level_every(level))
			continue;
		now = step_marks_before(work, marks[i].end_ticks);
		if (hits > step_level_every(level))
			turns[count++] = now - before;
		before = now;
	}
	if (count) {
		array_sort(turns, count, sizeof(*turns), is_more, NULL);
		median = turns[count / 2];
	}
	array_free(&room);
	return median;
}

/* The first turn is as long as others: what lies before is none. */
static uint64_t first_begins(const struct step_marks *ranges,
			     const struct loop_level *level,
			     const struct step_marks *work, size_t length)
{
	const struct loop_mark *marks = step_marks(ranges);
	size_t hits = 0, at = level->first, end;

	for (size_t i = level->first; i < ranges->count; i++) {
		if (!loop_level_is_hit(level, marks, i))
			continue;
		at = i;
		if (++hits == step_level_every(level))
			break;
	}
	end = step_marks_before(work, marks[at].end_ticks);
	if (!end || !length)
		return marks[level->first].ticks;
	return min_u64(marks[level->first].ticks,
		       step_marks(work)[end - min_u64(end, length)].ticks);
}

/* Each `every`th step of a class ends a step of the training's. */
static void take(struct step_finder *finder, struct step_marks *ranges,
		 const struct kind *kind, size_t every,
		 const struct step_marks *work, uint64_t ticks,
		 struct loop_nest *nest)
{
	struct loop_level *level = &nest->level[0];
	size_t length;

	*nest = (struct loop_nest){.count = 1, .runner_up = 1};
	step_marks_find_site(ranges, kind->first, level);
	level->is_end = true;
	level->every = every;
	level->begin = level->first;
	level->turns /= every;
	level->ticks *= every;
	length = work_in_turn(ranges, level, work, ticks);
	level->begin_ticks = first_begins(ranges, level, work, length);
	finder->work = length ? work : NULL;
	finder->work_length = length;
}

/* Its first steps may have been missed: PyTorch was not asked by then. */
static bool may_lack_first(const struct step_finder *finder,
			   const struct step_marks *stream,
			   const struct loop_level *level,
			   const struct loop_within *within)
{
	const uint64_t first = step_marks(stream)[level->first].ticks;

	return !within->is_in_first &&
	       (!finder->torch_ticks || finder->torch_ticks > first);
}

/* Of the classes that step equally often in each turn of a level the one that
 * comes last in it; 0: there is none. */
static size_t
in_each_turn(const struct step_finder *finder, const struct step_marks *ranges,
	     const struct kinds *kinds, const struct step_marks *stream,
	     const struct loop_level *level, uint64_t ticks, struct kind *found)
{
	struct loop_within best = {0};

	for (size_t i = 0; i < kinds->count; i++) {
		const struct loop_within one = loop_within(
			step_marks(stream), level, step_marks(ranges),
			ranges->count, kinds->kind[i].id, ticks);

		if (!loop_within_is_regular(&one) ||
		    may_lack_first(finder, stream, level, &one) ||
		    (best.every &&
		     (one.every > best.every ||
		      (one.every == best.every && one.last < best.last))))
			continue;
		best = one;
		*found = kinds->kind[i];
	}
	/* One that lacks a step would move all that come after it, but not
	 * those passes that a model makes before it is trained. */
	if (best.every > 1 &&
	    (best.usual + best.lead != best.turns ||
	     count_turns(ranges, found, stream, ticks).count != best.every))
		return 0;
	return best.every;
}

enum step_optimizer step_optimizer_find(struct writer_state *state,
					struct step_marks **stream,
					uint64_t ticks, struct loop_nest *nest)
{
	struct step_finder *finder = state->finder;
	struct step_marks *ranges = ranges_for(state, (*stream)->tid);
	const struct loop_level *level = &nest->level[nest->step];
	const size_t turns = level->turns;
	const struct step_marks *work = *stream;
	struct kinds kinds;
	struct turns of_most, of_found;
	struct kind most, found;
	size_t every;

	if (!ranges)
		return OPTIMIZER_NONE;
	if (work == ranges)
		work = work_of(finder, ranges);
	most = count_steps(state->session, ranges, ticks, &kinds);
	if (kinds.steps < STEPS_LEAST || kinds.is_alike)
		return OPTIMIZER_NONE;
	of_most = count_turns(ranges, &most, *stream, ticks);
	if (is_round_of_classes(ranges, &kinds, ticks, *stream, turns,
				&found)) {
		every = 1;
	} else if (is_part_of_round(ranges, &most, &of_most, *stream, turns)) {
		found = most;
		every = of_most.lines;
	} else if (turns + turns / 20 + MISSING_MOST >= most.steps &&
		   of_most.count > 1) {
		if (!of_most.is_in_turn)
			return OPTIMIZER_DOUBT;
		found = most;
		every = of_most.lines;
	} else if (ranges != *stream &&
		   turns > kinds.steps + kinds.steps / 20 + MISSING_MOST) {
		found = most;
		every = 1;
	} else {
		every = in_each_turn(finder, ranges, &kinds, *stream, level,
				     ticks, &found);
	}
	/* By places only the one that steps in each turn is told from the one
	 * that steps in some. */
	if (!every)
		return (*stream)->is_by_caller && of_most.is_mixed
			       ? OPTIMIZER_DOUBT
			       : OPTIMIZER_NONE;
	of_found = count_turns(ranges, &found, *stream, ticks);
	if (of_found.is_mixed || (every == 1 && of_found.has_others) ||
	    has_other_phase(ranges, &kinds, &found))
		return OPTIMIZER_DOUBT;
	take(finder, ranges, &found, every, work, ticks, nest);
	*stream = ranges;
	return OPTIMIZER_FOUND;
}

struct step_marks *step_optimizer_alone(struct writer_state *state,
					struct loop_nest *nest)
{
	struct step_finder *finder = state->finder;
	struct step_marks *ranges = ranges_of(finder, step_main_tid(state));
	struct step_marks *work;
	struct kinds kinds;
	struct turns turns;
	struct kind most;

	if (!ranges)
		return NULL;
	most = count_steps(state->session, ranges, UINT64_MAX, &kinds);
	if (most.steps < STEPS_LEAST ||
	    (kinds.count > 1 &&
	     !count_rounds(ranges, &kinds, UINT64_MAX, &most)))
		return NULL;
	work = work_of(finder, ranges);
	turns = count_turns(ranges, &most, work, UINT64_MAX);
	if ((!turns.is_in_turn && (!turns.is_staged || turns.count != 1)) ||
	    turns.has_others || !covers(ranges, &most, work))
		return NULL;
	take(finder, ranges, &most, turns.is_in_turn ? turns.lines : 1, work,
	     UINT64_MAX, nest);
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
		struct kinds kinds;
		struct kind most;

		if (ranges->family != SEARCH_RANGES)
			continue;
		most = count_steps(state->session, ranges, UINT64_MAX, &kinds);
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
	log_format(text, bytes, "TRACEPROF_STEP=range:%s (%lu {step|steps})",
		   name, (unsigned long)steps);
	len = strlen(text);
	if (turns > 1)
		log_format(text + len, bytes - len,
			   " or TRACEPROF_STEP=range:%s/%lu (%lu {step|steps})",
			   name, (unsigned long)turns,
			   (unsigned long)(steps / turns));
}
