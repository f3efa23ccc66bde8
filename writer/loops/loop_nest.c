/* SPDX-License-Identifier: MIT */
/*
 * loop_nest.c - which levels there are, and which of them is the step; see
 * loop_nest.h.
 *
 * For each order of context the marks are grouped, and each group is examined:
 * is it a loop's marker?  Of the loops found so the innermost is taken first,
 * then the next one around it, as long as that gains something.
 */
#include "writer/loops/loop_nest.h"

#include "writer/loops/loop_around.h"
#include "writer/loops/loop_doubt.h"
#include "writer/loops/loop_midst.h"
#include "writer/loops/loop_needed.h"
#include "writer/loops/loop_phase.h"
#include "writer/loops/loop_ways.h"
#include <errno.h>
#include <string.h>

#define CANDIDATES_MAX 192u
/* Of all marks a loop must span so many percent to be the run's. */
#define COVERS_LEAST   40u
/* Of 9 sites two must be new in a loop that has so many turns. */
#define SITES	       9u
#define NEW_SITES      2u
#define MOST_SITES     4u
#define SELDOM	       3
/* Fewer may be restarts, or folds. */
#define TURNS_UNEVEN   8u
/* A loop that adds less turns the inner one a few times, or that one is so
 * short. */
#define MANY_WITHIN    64.0
#define SHORT_LENGTH   5u
/* Two loops side by side are of one kind if one isn't so many times smaller. */
#define LESS_WORK      4u

static const unsigned int contexts[] = {0, 1, 2, 4, SEARCH_CONTEXT_MAX};

#define CONTEXTS (sizeof(contexts) / sizeof(contexts[0]))

struct finder {
	struct loop_groups groups;
	struct loop_scratch scratch;
	const struct loop_candidate *inner; /* the walk has come to it, */
	const struct loop_candidate *doubt; /* may not go on, NULL */
	const struct loop_candidate *open;  /* may, when the run goes on */
	bool is_tried; /* the doubt is about turns that are tried again */
	size_t count;
	size_t dropped; /* that stand behind those */
	struct loop_candidate candidates[CANDIDATES_MAX];
};

size_t loop_nest_room(size_t count)
{
	return align_up(sizeof(struct finder), CACHE_LINE) +
	       loop_groups_room(count);
}

/* --- what loops there are ------------------------------------------------- */

/* With context only what turns otherwise than all that were found without. */
static bool is_known(const struct finder *finder, size_t hits,
		     unsigned int context)
{
	for (size_t i = 0; context && i < finder->count; i++) {
		const struct loop_level *level = &finder->candidates[i].level;

		if (level->turns == hits && level->context < context)
			return true;
	}
	return false;
}

static void find_candidates(struct finder *finder, enum loop_told told)
{
	struct loop_groups *groups = &finder->groups;
	const size_t kinds = told == LOOP_BY_LENGTH ? CONTEXTS : 1;

	finder->count = 0;
	for (size_t i = 0; i < kinds && contexts[i] < groups->count; i++) {
		loop_groups_make(groups, contexts[i]);
		for (size_t g = 0; g < groups->groups; g++) {
			const size_t hits =
				groups->start[g + 1] - groups->start[g];

			if (finder->count == CANDIDATES_MAX)
				return;
			if (!is_known(finder, hits, contexts[i]) &&
			    loop_candidate_examine(
				    groups, g, contexts[i], told,
				    &finder->scratch,
				    &finder->candidates[finder->count]))
				finder->count++;
		}
	}
}

/* --- which of them are the run's ------------------------------------------ */

/* Marks that both span. */
static size_t overlap(const struct loop_candidate *a,
		      const struct loop_candidate *b)
{
	const size_t from = max_u64(a->level.first, b->level.first);
	const size_t to = min_u64(a->level.last, b->level.last);

	return to > from ? to - from : 0;
}

/* The one that spans most. */
static const struct loop_candidate *widest(const struct finder *finder)
{
	const struct loop_candidate *best = NULL;

	for (size_t i = 0; i < finder->count; i++) {
		const struct loop_candidate *c = &finder->candidates[i];

		if (!best || c->span > best->span)
			best = c;
	}
	return best;
}

static bool covers(const struct finder *finder)
{
	return finder->count && widest(finder)->span * 100 >=
					finder->groups.count * COVERS_LEAST;
}

/* Another phase of the run has loops of its own: they come last. */
static void drop_other_phases(struct finder *finder)
{
	const struct loop_candidate main = *widest(finder);
	size_t kept = 0;

	for (size_t i = 0; i < finder->count; i++) {
		const struct loop_candidate c = finder->candidates[i];

		if (overlap(&c, &main) * 2 < c.level.marks ||
		    c.span * 4 < main.span)
			continue;
		finder->candidates[i] = finder->candidates[kept];
		finder->candidates[kept++] = c;
	}
	finder->dropped = finder->count - kept;
	finder->count = kept;
}

struct choice {
	const struct loop_candidate *step, *within, *maybe; /* NULL none */
};

/* --- from one level to the next ------------------------------------------- */

static struct gain gain_of(struct finder *finder,
			   const struct loop_candidate *inner,
			   const struct loop_candidate *outer)
{
	return loop_gain(&finder->groups, &finder->scratch, inner, outer);
}

enum answer { ANSWER_NO, ANSWER_MAYBE, ANSWER_YES };

/* A report that brings much may be a loop that was cut off. */
static enum answer answer_report(struct finder *finder, const struct gain *gain,
				 const struct loop_candidate *outer)
{
	finder->open = finder->inner;
	if (gain->is_cut && outer->level.turns >= GAIN_MANY_TURNS) {
		finder->doubt = finder->inner;
		return ANSWER_MAYBE;
	}
	if (gain->sites * SITES < outer->level.held * NEW_SITES ||
	    (gain->sites <= GAIN_FEW_SITES && gain->ratio > SELDOM))
		return ANSWER_NO;
	finder->doubt = finder->inner;
	return ANSWER_MAYBE;
}

/* A forward pass is less than a training's turn.  Else it may be a step that is
 * tried again. */
static enum answer answer_single(struct finder *finder, const struct gain *gain,
				 const struct loop_candidate *inner,
				 const struct loop_candidate *outer)
{
	if (gain->is_pass || gain->is_outside ||
	    outer->level.length * 2 >= inner->level.length * 3 ||
	    (outer->level.mass >= GAIN_RICH_MASS &&
	     (!gain->is_once || outer->level.length > inner->level.length)))
		return ANSWER_YES;
	finder->doubt = finder->inner;
	finder->is_tried = true;
	return ANSWER_MAYBE;
}

/* The walk did not get away from it. */
static bool is_near(const struct loop_candidate *from,
		    const struct loop_candidate *step)
{
	return from && step->level.turns * 3 > from->level.turns * 2;
}

/* It is a loop's body, and not what the inner one does now and then, if it
 * begins with one thing and ends with another, and much of it. */
static enum answer answer_uneven(struct finder *finder, const struct gain *gain,
				 const struct loop_candidate *outer)
{
	if (gain->is_bracketed && outer->level.turns >= TURNS_UNEVEN &&
	    gain->sites * SITES >= outer->level.held * MOST_SITES)
		return ANSWER_YES;
	finder->doubt = finder->inner;
	return ANSWER_MAYBE;
}

/* Is `outer` more of a step than `inner`, if it is no report? */
static enum answer compare(struct finder *finder,
			   const struct loop_candidate *inner,
			   const struct loop_candidate *outer,
			   const struct gain *gain)
{
	bool is_step;

	if (gain->lost)
		return ANSWER_NO;
	if (gain->ratio < 1.5 && loop_lacks_less(&outer->level, &inner->level))
		return ANSWER_YES;
	if (!gain->sites &&
	    !gain_is_a_little(gain, &inner->level, &outer->level))
		return ANSWER_NO;
	if (!gain->sites ||
	    gain_is_undecided(gain, &inner->level, &outer->level)) {
		finder->doubt = finder->inner;
		return ANSWER_MAYBE;
	}
	if (gain->is_single && gain->ratio >= 1.5 &&
	    outer->level.mass >= inner->level.mass)
		return answer_single(finder, gain, inner, outer);
	if (gain->ratio < 1.5)
		return outer->level.missing <= inner->level.missing ? ANSWER_YES
								    : ANSWER_NO;
	if (gain_is_as_rich(gain, &inner->level, &outer->level)) {
		finder->doubt = finder->inner;
		return ANSWER_MAYBE;
	}
	/* Every so many turns, counted from the first: a report, a log. */
	if (gain->sites * SITES < outer->level.held * MOST_SITES &&
	    gain->is_constant && !gain->is_whole)
		return answer_report(finder, gain, outer);
	if (finder->is_tried && !gain->is_outside)
		return ANSWER_MAYBE;
	is_step = gain->sites * SITES >= outer->level.held * NEW_SITES &&
		  (outer->level.turns >= GAIN_MANY_TURNS ||
		   (gain->is_whole && gain->again * 3 < inner->level.held) ||
		   (gain->is_whole && gain->is_constant && !gain->is_single &&
		    inner->level.mass < LOOP_POOR_MASS));
	if (gain_is_uneven(gain, &outer->level) &&
	    (is_step || gain->is_bracketed))
		return answer_uneven(finder, gain, outer);
	if (is_step)
		return ANSWER_YES;
	if (!gain->is_constant || !gain->is_whole ||
	    gain->ratio > MANY_WITHIN || gain->again * 3 >= inner->level.held ||
	    (gain->sites == 1 && outer->level.context > 1))
		return ANSWER_NO;
	return gain->ratio <= GAIN_FEW_WITHIN ||
			       inner->level.length <= SHORT_LENGTH
		       ? ANSWER_YES
		       : ANSWER_MAYBE;
}

/* Is `outer` more of a step than `inner`? */
static enum answer is_better(struct finder *finder,
			     const struct loop_candidate *inner,
			     const struct loop_candidate *outer)
{
	const struct gain gain = gain_of(finder, inner, outer);
	const bool is_part =
		gain.ratio >= 1.5
			? gain.is_besides
			: loop_has_branches(&finder->groups, finder->candidates,
					    finder->count, inner, outer);
	const enum answer answer =
		is_part ? ANSWER_NO : compare(finder, inner, outer, &gain);
	const bool is_open =
		answer == ANSWER_NO
			? !gain.is_besides && gain_is_other_way(&gain)
			: answer == ANSWER_YES &&
				  gain_may_be_report(&gain, &inner->level,
						     &outer->level);

	if (!is_open)
		return answer;
	finder->doubt = finder->inner;
	return ANSWER_MAYBE;
}

/* --- the marker ----------------------------------------------------------- */

static size_t votes_for(const struct finder *finder, size_t turns)
{
	size_t votes = 0;

	for (size_t i = 0; i < finder->count; i++)
		votes += finder->candidates[i].level.context <= 1 &&
			 finder->candidates[i].level.turns == turns;
	return votes;
}

/* Of two markers of one loop: what holds more, lacks less, needs less context,
 * has more others that come as often; then what comes last in the first turn
 * is better, the optimiser rather than the embedding. */
static bool is_better_marker(const struct finder *finder,
			     const struct loop_level *a,
			     const struct loop_level *b)
{
	const size_t votes_a = votes_for(finder, a->turns);
	const size_t votes_b = votes_for(finder, b->turns);

	if (a->held != b->held)
		return a->held > b->held;
	if (loop_lacks_less(a, b) || loop_lacks_less(b, a))
		return loop_lacks_less(a, b);
	if (a->missed != b->missed)
		return a->missed < b->missed;
	if (a->context != b->context)
		return a->context < b->context;
	/* In one turn or the other something came before it. */
	if (a->context && a->turns != b->turns)
		return a->turns > b->turns;
	if (votes_a != votes_b)
		return votes_a > votes_b;
	return a->first > b->first && a->first <= b->first + b->length;
}

static const struct loop_candidate *best_marker(const struct finder *finder,
						const struct loop_candidate *of)
{
	const struct loop_candidate *best = of;

	for (size_t i = 0; i < finder->count; i++) {
		const struct loop_candidate *c = &finder->candidates[i];

		if (loop_is_same(&c->level, &of->level) &&
		    is_better_marker(finder, &c->level, &best->level))
			best = c;
	}
	return best;
}

static struct loop_level level_of(struct finder *finder,
				  const struct loop_candidate *candidate)
{
	const struct loop_mark *marks = finder->groups.marks;
	struct loop_level level = best_marker(finder, candidate)->level;

	loop_level_count(&finder->groups, &level);
	level.next = loop_level_next(marks, &level);
	level.begin = loop_level_begin(&level, marks, level.first, level.begin);
	return level;
}

/* The next level outward of one with so many turns, NULL none. */
static const struct loop_candidate *outward(const struct finder *finder,
					    size_t turns)
{
	const struct loop_candidate *next = NULL;

	for (size_t i = 0; i < finder->count; i++) {
		const struct loop_candidate *c = &finder->candidates[i];

		if (c->level.turns >= turns)
			continue;
		if (!next || c->level.turns > next->level.turns ||
		    (c->level.turns == next->level.turns &&
		     c->level.held > next->level.held))
			next = c;
	}
	return next;
}

/* Marks that are in a loop's usual turns. */
static size_t work_of(const struct loop_candidate *candidate)
{
	return candidate->level.turns * candidate->level.length;
}

/* Is a loop beside the step, and about as large? */
static bool is_beside(const struct loop_candidate *c,
		      const struct loop_candidate *step)
{
	return loop_has_others(c, step) && loop_has_others(step, c) &&
	       work_of(c) * LESS_WORK >= work_of(step);
}

/* It is around another one beside the step that is a step rather than it: that
 * one's reports. */
static bool is_too_far(struct finder *finder, const struct loop_candidate *c,
		       const struct loop_candidate *step)
{
	const struct loop_candidate *doubt = finder->doubt;
	const struct loop_candidate *open = finder->open;
	const bool is_tried = finder->is_tried;
	bool is_far = false;

	for (size_t i = 0; i < finder->count && !is_far; i++) {
		const struct loop_candidate *within = &finder->candidates[i];

		is_far = within->level.turns > c->level.turns &&
			 within->level.missed <= LOOP_MISSED_MOST &&
			 is_beside(within, step) &&
			 !loop_has_others(within, c) &&
			 is_better(finder, within, c) == ANSWER_NO;
	}
	finder->doubt = doubt;
	finder->open = open;
	finder->is_tried = is_tried;
	return is_far;
}

/* Few turns that are reports, or may be, of a level around the step, which was
 * no better than it, or may be. */
static bool is_report_of_another(struct finder *finder,
				 const struct loop_candidate *c,
				 const struct loop_candidate *step)
{
	for (size_t i = 0; i < finder->count; i++) {
		const struct loop_candidate *within = &finder->candidates[i];

		if (c->level.turns < GAIN_MANY_TURNS &&
		    within->level.turns >= GAIN_MANY_TURNS &&
		    !within->level.context && !loop_has_others(step, within) &&
		    !loop_has_others(within, c) &&
		    c->level.held <= within->level.held + GAIN_FEW_SITES &&
		    within->level.held > step->level.held &&
		    is_better(finder, within, c) != ANSWER_YES)
			return true;
	}
	return false;
}

/* The next step outward from one: the nearest that is better.  But where
 * another better one is a loop of its own (a training, where the nearest is
 * what generates), the one that holds more. */
static const struct loop_candidate *
next_step(struct finder *finder, const struct loop_candidate *step,
	  const struct loop_candidate **maybe)
{
	const struct loop_candidate *better = NULL;
	const struct loop_candidate *next = step;

	*maybe = NULL;
	finder->inner = step;
	finder->is_tried = false;
	while ((next = outward(finder, next->level.turns))) {
		if (better && (next->level.held <= better->level.held ||
			       !loop_has_others(better, next) ||
			       work_of(next) * LESS_WORK < work_of(better)))
			continue;
		switch (is_better(finder, best_marker(finder, step), next)) {
		case ANSWER_YES:
			if (is_report_of_another(finder, next, step))
				finder->doubt = step;
			else if (!is_too_far(finder, next, step))
				better = next;
			break;
		case ANSWER_MAYBE:
			if (!*maybe)
				*maybe = next;
			break;
		default: break;
		}
	}
	return better;
}

static const struct loop_candidate *walk(struct finder *finder,
					 const struct loop_candidate **maybe,
					 const struct loop_candidate **within)
{
	const struct loop_candidate *step = outward(finder, SIZE_MAX);
	const struct loop_candidate *next;

	*within = NULL;
	while ((next = next_step(finder, step, maybe))) {
		*within = step;
		step = next;
	}
	return step;
}

/* What generates, and what trains: neither is around the other, and the one
 * that holds more is the step. */
static const struct loop_candidate *beside(struct finder *finder,
					   const struct loop_candidate *step)
{
	const struct loop_candidate *best;

	step = best = best_marker(finder, step);
	for (size_t i = 0; i < finder->count; i++) {
		const struct loop_candidate *c = &finder->candidates[i];

		if (is_beside(c, step) &&
		    loop_is_richer(&c->level, &best->level) &&
		    !is_too_far(finder, c, step))
			best = c;
	}
	return best;
}

/* From one that is beside it goes on outward: a loop around both. */
static const struct loop_candidate *
walk_beside(struct finder *finder, const struct loop_candidate *step,
	    struct choice *choice)
{
	const struct loop_candidate *best = beside(finder, step);
	const struct loop_candidate *next;

	if (best == best_marker(finder, step))
		return best;
	while ((next = next_step(finder, best, &choice->maybe))) {
		choice->within = best;
		best = next;
	}
	return best;
}

/* Outward by the code, past loops that turn as often as they need; whether one
 * is left of which it isn't known. */
static bool go_around(struct finder *finder, struct choice *choice)
{
	enum loop_around answer = AROUND_FOUND;
	bool is_around = false;

	while (answer == AROUND_FOUND &&
	       finder->count + finder->dropped < CANDIDATES_MAX) {
		struct loop_candidate *end =
			&finder->candidates[finder->count + finder->dropped];
		struct loop_candidate around;

		answer = loop_around_find(&finder->groups, &finder->scratch,
					  best_marker(finder, choice->step),
					  is_around, &around);
		if (answer != AROUND_FOUND)
			break;
		*end = finder->candidates[finder->count];
		finder->candidates[finder->count] = around;
		choice->within = choice->step;
		choice->step = &finder->candidates[finder->count++];
		choice->maybe = NULL;
		is_around = true;
	}
	return answer == AROUND_DOUBT;
}

/* How often the step turns in the next loop around it, if always as often. */
static size_t outer_period(struct finder *finder,
			   const struct loop_candidate *step)
{
	const struct loop_candidate *next = step;

	while ((next = outward(finder, next->level.turns))) {
		const struct gain gain = gain_of(finder, step, next);

		if (gain.is_constant && gain.ratio > 1.5)
			return gain.usual;
	}
	return 0;
}

/* --- all of it ------------------------------------------------------------ */

static bool is_among(const struct loop_candidate *const *taken, size_t count,
		     const struct loop_candidate *candidate)
{
	for (size_t i = 0; i < count; i++) {
		if (loop_is_same(&taken[i]->level, &candidate->level))
			return true;
	}
	return false;
}

/* Innermost first. */
static void add(const struct loop_candidate **taken, size_t *count,
		const struct loop_candidate *candidate)
{
	size_t at = *count;

	if (!candidate || *count == LOOP_LEVELS_MAX)
		return;
	for (; at && taken[at - 1]->level.turns < candidate->level.turns; at--)
		taken[at] = taken[at - 1];
	taken[at] = candidate;
	++*count;
}

/* Those that were weighed, and as many others as there is room for. */
static void tell(struct finder *finder, const struct choice *choice,
		 struct loop_nest *nest)
{
	const struct loop_candidate *taken[LOOP_LEVELS_MAX];
	const struct loop_candidate *next = NULL;

	add(taken, &nest->count, choice->step);
	add(taken, &nest->count, choice->within);
	if (choice->maybe != choice->within)
		add(taken, &nest->count, choice->maybe);
	while ((next = outward(finder, next ? next->level.turns : SIZE_MAX))) {
		if (!is_among(taken, nest->count, next))
			add(taken, &nest->count, next);
	}
	nest->runner_up = nest->count;
	for (size_t i = 0; i < nest->count; i++) {
		nest->level[i] = level_of(finder, taken[i]);
		if (taken[i] == choice->step)
			nest->step = i;
		if (taken[i] ==
		    (choice->maybe ? choice->maybe : choice->within))
			nest->runner_up = i;
	}
}

/* The level of which the step may be one way of two, NULL none. */
static const struct loop_candidate *all_ways(struct finder *finder,
					     const struct loop_candidate *step)
{
	for (size_t i = 0; i < finder->count; i++) {
		if (loop_is_one_way(&finder->groups, &finder->scratch,
				    &finder->candidates[i], step))
			return &finder->candidates[i];
	}
	return NULL;
}

int loop_nest_find_part(const struct loop_mark *marks, size_t count, void *room,
			struct loop_nest *nest)
{
	struct choice choice;
	struct finder *finder = room;
	const struct loop_candidate *other;
	bool is_vague;

	*nest = (struct loop_nest){0};
	if (count < LOOP_HITS_LEAST)
		return -ENOENT;
	finder->doubt = finder->open = NULL;
	finder->count = 0;
	loop_groups_start(&finder->groups, marks, count,
			  (char *)room + align_up(sizeof(*finder), CACHE_LINE));
	for (unsigned int told = 0; told < LOOP_TOLD && !covers(finder); told++)
		find_candidates(finder, (enum loop_told)told);
	if (!covers(finder))
		return -ENOENT;
	drop_other_phases(finder);
	choice.step = walk(finder, &choice.maybe, &choice.within);
	if (!is_near(finder->doubt, choice.step))
		choice.step = walk_beside(finder, choice.step, &choice);
	is_vague = go_around(finder, &choice);
	other = loop_elsewhere(&finder->groups,
			       &finder->candidates[finder->count],
			       finder->dropped, choice.step);
	if (!other)
		other = all_ways(finder, choice.step);
	if (other)
		choice.maybe = other;
	tell(finder, &choice, nest);
	nest->is_open = is_near(finder->open, choice.step);
	nest->outer = outer_period(finder, choice.step);
	is_vague |= loop_is_doubtful(&finder->groups,
				     best_marker(finder, choice.step),
				     &nest->seldom);
	is_vague |=
		loop_is_lonely(&finder->groups, finder->candidates,
			       finder->count, best_marker(finder, choice.step));
	is_vague |=
		loop_is_part(&finder->groups, best_marker(finder, choice.step));
	is_vague |= loop_is_needed(&finder->groups,
				   best_marker(finder, choice.step));
	return is_vague || other || is_near(finder->doubt, choice.step)
		       ? -ENOENT
		       : 0;
}

int loop_nest_find(const struct loop_mark *marks, size_t count, void *room,
		   struct loop_nest *nest)
{
	const int rc = loop_nest_find_part(marks, count, room, nest);

	return !rc && loop_phase_is_beside(marks, count, room, nest) ? -ENOENT
								     : rc;
}
