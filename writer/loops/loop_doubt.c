/* SPDX-License-Identifier: MIT */
/* loop_doubt.c - what else comes between a level's turns; see loop_doubt.h. */
#include "writer/loops/loop_doubt.h"

#include "writer/loops/loop_gain.h"
#include <string.h>

/* Of so many turns all but one have what isn't in each: branches. */
#define BRANCHED_OF   20u
/* Fewer turns than these prove less: such a share of their marks must be at
 * sites that come in each. */
#define FEW_TURNS     24u
#define MASS_OF_FEW   0.9
/* So many turns are a part of the run. */
#define PART_TURNS    5u
/* A longer part is the step's sites but for a tenth. */
#define MOST_HELD     0.9
/* Of 9 sites so many come a few times, as often as each other. */
#define FEW_SITES     4u
#define FEW_SITES_OF  9u
/* Of so few sites, each so often in a turn, any order comes again by chance. */
#define FEW_ALIKE     4u
/* Few turns may be less of the run than a loop elsewhere that turns twice as
 * often, with a tenth of all marks. */
#define MORE_TURNS    2u
#define MORE_MARKS_OF 10u
/* So many turns of one or two sites may be parts of what is called now and
 * then. */
#define PARTS_HELD    2u
#define PARTS_TURNS   4096u
/* Turns of one site between two of another: fewer are no report's. */
#define TURNS_OF_FEW  5u
/* Of so many turns one may have a region of several members. */
#define SHARED_OF     10u
/* A turn that is two is so long, of ten parts; and one in so many turns is. */
#define LONG	      8u
#define LONG_OF	      10u
#define MORE_OF	      20u
#define FEW_WITHOUT   2u
/* Loops around a region by its code, and one: the step's alone. */
#define DEPTH_OF_ONE  2u

/* By the code it comes in some turns of the marker's loop, or in a loop within:
 * not around it. */
static bool is_in_turns(const struct loop_groups *groups, uint32_t site,
			uint32_t marker)
{
	const struct loop_code *code = groups->code;

	return loop_groups_is_once(groups, marker) &&
	       (code[site].loop == code[marker].loop ||
		(code[marker].depth && code[site].depth > code[marker].depth));
}

static void count_part(const struct loop_groups *groups, size_t from, size_t to,
		       uint32_t *hits)
{
	memset(hits, 0, LOOP_SITES_MAX * sizeof(*hits));
	for (size_t i = from; i < to; i++) {
		if (groups->site[i] < LOOP_SITES_MAX)
			hits[groups->site[i]]++;
	}
}

/* A part of the run that is longer than all turns: nearly all of it are sites
 * that the step holds, and each of those comes.  The turns are but the longest
 * of many, transforms of one size after another. */
static bool is_most_of_it(const struct loop_groups *groups,
			  const struct loop_candidate *candidate, size_t from,
			  size_t to)
{
	const struct loop_level *step = &candidate->level;
	uint32_t hits[LOOP_SITES_MAX];
	size_t held = 0;

	if (to - from <= step->last - step->first)
		return false;
	count_part(groups, from, to, hits);
	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (!loop_holds(candidate, s))
			continue;
		if (hits[s] < LOOP_HITS_LEAST)
			return false;
		held += hits[s];
	}
	return (double)held >= MOST_HELD * (double)(to - from);
}

/* In a part of the run without turns each site that the step holds comes, and
 * no less than half as often. */
static bool is_more_of_it(const struct loop_groups *groups,
			  const struct loop_candidate *candidate,
			  const uint32_t *usual, size_t from, size_t to)
{
	const struct loop_level *step = &candidate->level;
	const double turns = (double)(step->last - step->first);
	uint32_t hits[LOOP_SITES_MAX];

	if (to - from < PART_TURNS * step->length)
		return false;
	count_part(groups, from, to, hits);
	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (loop_holds(candidate, s) &&
		    2. * (double)hits[s] * turns <
			    (double)usual[s] * (double)(to - from))
			return false;
	}
	return true;
}

static bool is_elsewhere(const struct loop_groups *groups,
			 const struct loop_candidate *candidate)
{
	const struct loop_level *step = &candidate->level;
	uint32_t usual[LOOP_SITES_MAX];

	count_part(groups, step->first, step->last, usual);
	return is_most_of_it(groups, candidate, 0, step->first) ||
	       is_most_of_it(groups, candidate, step->last + 1,
			     groups->count) ||
	       is_more_of_it(groups, candidate, usual, 0, step->first) ||
	       is_more_of_it(groups, candidate, usual, step->last + 1,
			     groups->count);
}

bool loop_is_doubtful(struct loop_groups *groups,
		      const struct loop_candidate *candidate, size_t *seldom)
{
	const struct loop_level *step = &candidate->level;
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	const uint32_t marker = groups->site[step->first];
	uint32_t *hits = groups->start;
	size_t others = 0;
	size_t branched = 0;
	bool is_other = false;

	memset(hits, 0, (sites + 1) * sizeof(*hits));
	for (size_t i = step->first; i < groups->count; i++) {
		if (groups->site[i] < sites &&
		    !loop_holds(candidate, groups->site[i])) {
			others += ++hits[groups->site[i]] == LOOP_HITS_LEAST &&
				  i < step->last &&
				  !is_in_turns(groups, groups->site[i], marker);
			is_other = true;
		} else if (loop_level_is_hit(step, groups->marks, i)) {
			branched += is_other;
			is_other = false;
		}
	}
	*seldom = 0;
	for (size_t s = 0; s < sites; s++) {
		if (hits[s] && (!*seldom || hits[s] < *seldom))
			*seldom = hits[s];
	}
	return step->missed > LOOP_MISSED_MOST ||
	       (step->turns < FEW_TURNS && step->mass < MASS_OF_FEW &&
		others) ||
	       (step->mass < LOOP_POOR_MASS && others >= step->held &&
		branched * BRANCHED_OF < (step->turns - 1) * (BRANCHED_OF - 1));
}

/* Of the sites that come so often those that come in the step's turns, too;
 * whether some come before them and others behind. */
static size_t come_around(const struct loop_candidate *candidate,
			  const uint32_t *before, const uint32_t *within,
			  const uint32_t *behind, uint32_t times)
{
	bool begins = false, ends = false;
	size_t count = 0;

	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (loop_holds(candidate, s) || !within[s] ||
		    before[s] + within[s] + behind[s] != times)
			continue;
		begins |= before[s] && !behind[s];
		ends |= behind[s] && !before[s];
		count++;
	}
	return begins && ends ? count : 0;
}

static bool is_in_few(const struct loop_groups *groups,
		      const struct loop_candidate *candidate)
{
	const struct loop_level *step = &candidate->level;
	uint32_t before[LOOP_SITES_MAX];
	uint32_t within[LOOP_SITES_MAX];
	uint32_t behind[LOOP_SITES_MAX];

	count_part(groups, 0, step->first, before);
	count_part(groups, step->first, step->last, within);
	count_part(groups, step->last, groups->count, behind);
	for (uint32_t times = 2; times < LOOP_HITS_LEAST; times++) {
		const size_t sites =
			come_around(candidate, before, within, behind, times);

		if (sites &&
		    sites * FEW_SITES_OF >= (sites + step->held) * FEW_SITES)
			return true;
	}
	return false;
}

static bool is_of_sizes(const struct loop_groups *groups,
			const struct loop_candidate *candidate)
{
	const struct loop_level *step = &candidate->level;
	const struct loop_mark *marks = groups->marks;
	size_t alone = 0, before = 0, turns = 0, changes = 0;
	bool is_known = true;

	if (step->held != groups->sites || step->length != step->held ||
	    groups->code[groups->site[step->first]].depth == DEPTH_OF_ONE ||
	    (groups->sites == 1 && loop_groups_is_turn(groups, 0)))
		return false;
	if (step->held <= PARTS_HELD && step->turns > PARTS_TURNS)
		return true;
	for (size_t i = step->first + 1; i <= step->last; i++) {
		is_known &= marks[i].team != 0;
		alone += marks[i].team == 1;
		if (!loop_level_is_hit(step, marks, i))
			continue;
		if (is_known) {
			changes += turns++ && alone != before;
			before = alone;
		}
		alone = 0;
		is_known = true;
	}
	return changes >= 2 * LOOP_HITS_LEAST;
}

/* Hardly any turn has a region of several members, though the run has such: so
 * small are its parts that nobody works on them together, as files that are
 * opened one after the other. */
static bool is_of_ones(const struct loop_groups *groups,
		       const struct loop_level *step)
{
	size_t turns = 0, in_turns = 0;
	bool has_several = false, is_shared = false;

	for (size_t i = 0; i < groups->count; i++) {
		const struct loop_mark *mark = &groups->marks[i];

		/* In what is around them all a team of one is no choice. */
		has_several |=
			mark->team > 1 &&
			(i > step->first ||
			 mark->end_ticks <= groups->marks[step->last].ticks);
		if (i <= step->first || i > step->last)
			continue;
		if (!mark->team || mark->is_in_team)
			return false;
		is_shared |= mark->team > 1;
		if (!loop_level_is_hit(step, groups->marks, i))
			continue;
		in_turns += is_shared;
		turns++;
		is_shared = false;
	}
	return has_several && in_turns * SHARED_OF <= turns;
}

/* All of a turn is one region, from several places, or where the compiler made
 * several calls of one (a short loop that it unrolled). */
static bool is_one_region(const struct loop_groups *groups,
			  const struct loop_level *step)
{
	const uint64_t one = loop_mark_function(&groups->marks[step->first]);

	for (size_t i = step->first; i < step->first + step->length; i++) {
		if (loop_mark_function(&groups->marks[i]) != one)
			return false;
	}
	return true;
}

static bool is_in_loops(const struct loop_groups *groups,
			const struct loop_candidate *candidate)
{
	const struct loop_level *step = &candidate->level;
	const uint32_t marker = groups->site[step->first];
	const struct loop_code *code = groups->code;

	if (marker >= LOOP_SITES_MAX || code[marker].depth <= DEPTH_OF_ONE ||
	    loop_groups_is_turn(groups, marker) || !is_one_region(groups, step))
		return false;
	for (uint32_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++) {
		if (code[s].hits < LOOP_HITS_LEAST)
			continue;
		if (!loop_holds(candidate, s) || !code[s].loop ||
		    code[s].loop != code[marker].loop)
			return false;
	}
	return true;
}

/* Few turns, and behind the last of them one site that comes more often: a loop
 * of it alone is no level, but a model is used in it. */
static bool is_used(const struct loop_groups *groups,
		    const struct loop_candidate *candidate)
{
	const struct loop_level *step = &candidate->level;
	uint32_t hits[LOOP_SITES_MAX];

	if (step->turns >= FEW_TURNS)
		return false;
	count_part(groups, step->last + 1, groups->count, hits);
	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (!loop_holds(candidate, s) &&
		    hits[s] >= MORE_TURNS * step->turns &&
		    hits[s] * MORE_MARKS_OF >= groups->count)
			return true;
	}
	return false;
}

/* A loop of one site alone is no level, so nobody asked whether what comes now
 * and then is a report in it.  By the code a loop may be around. */
static bool is_report(const struct loop_groups *groups,
		      const struct loop_candidate *candidate)
{
	const struct loop_level *step = &candidate->level;
	const struct loop_code *code = groups->code;
	uint32_t hits[LOOP_SITES_MAX];
	uint32_t most = 0, least = LOOP_SITES_MAX;

	if (step->held != 2)
		return false;
	count_part(groups, step->first, step->last, hits);
	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (!loop_holds(candidate, s))
			continue;
		least = least == LOOP_SITES_MAX || hits[s] < hits[least]
				? s
				: least;
		most = hits[s] > hits[most] ? s : most;
	}
	if (hits[least] + 1 != step->turns || step->length <= TURNS_OF_FEW ||
	    (!gain_is_round(step->length - 1) &&
	     (step->length <= GAIN_FEW_WITHIN ||
	      step->turns >= GAIN_MANY_TURNS)))
		return false;
	return !code[least].loop || !code[most].loop || !code[least].depth ||
	       code[least].always < code[least].asked ||
	       code[least].depth >= code[most].depth;
}

bool loop_is_part(const struct loop_groups *groups,
		  const struct loop_candidate *candidate)
{
	return is_elsewhere(groups, candidate) ||
	       is_in_few(groups, candidate) || is_used(groups, candidate) ||
	       is_of_sizes(groups, candidate) ||
	       is_of_ones(groups, &candidate->level) ||
	       is_in_loops(groups, candidate) || is_report(groups, candidate);
}

/* In most of its turns another marker comes once, in some twice and more, and
 * those are as much longer: it fell out there, since not all that comes has it
 * (requests of any size).  What is a validation's or a generator's pass is
 * shorter. */
static bool falls_out(const struct loop_groups *groups,
		      const struct loop_level *step,
		      const struct loop_level *other)
{
	size_t turns = 0, once = 0, more = 0, hits = 0, begin = step->first;

	for (size_t i = begin + 1; i <= step->last; i++) {
		hits += loop_level_is_hit(other, groups->marks, i);
		if (!loop_level_is_hit(step, groups->marks, i))
			continue;
		turns++;
		once += hits == 1;
		if (hits > 1) {
			const size_t usual = other->length * (hits - 1);

			if ((i - begin) * LONG_OF <
			    (usual + step->length) * LONG)
				return false;
			more++;
		}
		begin = i;
		hits = 0;
	}
	return more >= LOOP_HITS_LEAST && more * MORE_OF >= turns &&
	       once + more + FEW_WITHOUT >= turns && once >= more;
}

/* By the code that other one lies in a loop of its own, and the marker in each
 * turn of the one around: a part of it that is tried again. */
static bool is_tried(const struct loop_groups *groups,
		     const struct loop_level *step,
		     const struct loop_level *other)
{
	const uint32_t marker = groups->site[step->first];

	return marker < LOOP_SITES_MAX && !step->context && !other->context &&
	       groups->code[marker].always == groups->code[marker].asked &&
	       loop_groups_is_within(groups, groups->site[other->first],
				     marker);
}

bool loop_is_lonely(const struct loop_groups *groups,
		    const struct loop_candidate *levels, size_t count,
		    const struct loop_candidate *step)
{
	bool is_lonely = true;

	for (size_t i = 0; i < count; i++) {
		const struct loop_level *other = &levels[i].level;

		if (other->id != step->level.id &&
		    loop_is_same(other, &step->level))
			is_lonely = false;
		if (other->turns > step->level.turns &&
		    other->turns < 2 * step->level.turns &&
		    !is_tried(groups, &step->level, other) &&
		    falls_out(groups, &step->level, other))
			return true;
	}
	return is_lonely && step->level.context &&
	       step->level.held <= FEW_ALIKE &&
	       step->level.length <= FEW_ALIKE * step->level.held;
}

/* --- other phases ----------------------------------------------------------*/

/* However short, it is a loop around what is the step of this phase: a training
 * before or after much that only generates. */
static bool is_around(const struct loop_candidate *c,
		      const struct loop_candidate *step)
{
	size_t shared = 0;

	for (size_t w = 0; w < LOOP_SITES_MAX / 64; w++)
		shared += (size_t)__builtin_popcountll(c->held[w] &
						       step->held[w]);
	return c->level.mass >= LOOP_POOR_MASS &&
	       ((shared == step->level.held && c->level.held > shared) ||
		(shared * 2 >= step->level.held &&
		 c->level.held * 2 >= step->level.held * 3 &&
		 c->level.length * 2 >= step->level.length * 3));
}

/* A model is made in some rounds, and used. */
static bool is_used_more(const struct loop_candidate *c, size_t marks,
			 const struct loop_candidate *step)
{
	return step->level.turns < FEW_TURNS &&
	       c->level.turns >= MORE_TURNS * step->level.turns &&
	       c->level.mass >= LOOP_POOR_MASS &&
	       (c->level.first > step->level.last ||
		c->level.last < step->level.first) &&
	       c->span * MORE_MARKS_OF >= marks;
}

/* It goes on where the step doesn't turn, and comes between its turns, too: a
 * loop around it, some of whose turns need none of the step's. */
static bool is_going_on(const struct loop_groups *groups,
			const struct loop_candidate *c,
			const struct loop_candidate *step)
{
	uint32_t hits[LOOP_SITES_MAX];

	count_part(groups, step->level.first, step->level.last, hits);
	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (loop_holds(c, s) &&
		    (loop_holds(step, s) || hits[s] < LOOP_HITS_LEAST))
			return false;
	}
	return c->level.held > 1;
}

const struct loop_candidate *loop_elsewhere(const struct loop_groups *groups,
					    const struct loop_candidate *others,
					    size_t count,
					    const struct loop_candidate *step)
{
	for (size_t i = 0; i < count; i++) {
		if (is_around(&others[i], step))
			return &others[i];
	}
	for (size_t i = 0; i < count; i++) {
		if (is_used_more(&others[i], groups->count, step) ||
		    is_going_on(groups, &others[i], step))
			return &others[i];
	}
	return NULL;
}
