/* SPDX-License-Identifier: MIT */
/* loop_around.c - loops by the code around a level; see loop_around.h. */
#include "writer/loops/loop_around.h"

/* Turns between two of another site's: of rich ones at most so many, on
 * average.  More may be an epoch's batches, of any number, or what a solver
 * takes. */
#define MOST_WITHIN  64u
/* Of its sites so many are new, and as many marks are at sites of each turn. */
#define NEW_LEAST    2u
#define NEW_OF	     9u
#define MASS	     0.9
/* Turns in one that begins and ends with something of its own. */
#define FEW_WITHIN   6u
/* Fewer may be restarts, or folds. */
#define TURNS_LEAST  8u

/* Times that a site's place was asked. */
#define ASKED_LEAST  3u

/* Of one site of its own: turns, and sites of the step, whose turns are now so
 * many, now twice as many, or always so few. */
#define TURNS_OF_ONE 15u
#define HELD_MOST    8u
#define TWICE	     2u
#define FEW_EACH     12u

/* Turns of the step around another site's hits. */
struct around {
	size_t hits;
	size_t head, within; /* before the first, since the newest */
	size_t least, most;  /* between two */
};

static void count_hit(struct around *around)
{
	if (!around->hits++) {
		around->head = around->within;
	} else {
		around->least = min_u64(around->least, around->within);
		around->most = max_u64(around->most, around->within);
	}
	around->within = 0;
}

static struct around count_around(const struct loop_groups *groups,
				  const struct loop_level *step, uint32_t site)
{
	struct around around = {.least = SIZE_MAX};

	for (size_t i = 0; i < groups->count; i++) {
		if (groups->site[i] == site)
			count_hit(&around);
		else
			around.within +=
				i >= step->first && i <= step->last &&
				loop_level_is_hit(step, groups->marks, i);
	}
	return around;
}

/* By the code it comes in each turn of a loop around the marker's. */
static bool is_body(const struct loop_groups *groups, uint32_t site,
		    uint32_t marker)
{
	const struct loop_code *code = &groups->code[site];

	return code->always == code->asked &&
	       loop_groups_is_within(groups, marker, site);
}

/* Not a batch's more or less in an epoch, either.  Some may have none.  How
 * many come before its first hit is no matter where that ends a turn. */
static bool is_uneven(const struct loop_groups *groups,
		      const struct loop_level *step, uint32_t site)
{
	const struct around around = count_around(groups, step, site);
	const bool is_sure = is_body(groups, site, groups->site[step->first]);

	return around.hits >= LOOP_HITS_LEAST &&
	       (is_sure || (around.head <= 2 * around.most &&
			    around.within <= 2 * around.most)) &&
	       around.most * 4 > around.least * 5 + 4;
}

/* Whether they are too many to tell. */
static bool are_many(const struct loop_groups *groups,
		     const struct loop_level *step, uint32_t site)
{
	const struct around around = count_around(groups, step, site);

	return step->held > HELD_MOST &&
	       step->turns - around.head - around.within >
		       MOST_WITHIN * (around.hits - 1);
}

/* ... but always so few: what is done twelve times in a time step, say.  More
 * are batches of an epoch. */
static bool is_of_few(const struct loop_groups *groups,
		      const struct loop_level *step, uint32_t site)
{
	const struct around around = count_around(groups, step, site);

	return around.hits >= LOOP_HITS_LEAST && around.least == around.most &&
	       around.least > 1 && around.least <= FEW_EACH &&
	       is_body(groups, site, groups->site[step->first]);
}

/* By the code it lies in fewer loops than the marker.  It comes seldom, and
 * only the run's first thousands of marks are asked. */
static bool is_further_out(const struct loop_groups *groups, uint32_t site,
			   uint32_t marker)
{
	const struct loop_code *code = &groups->code[site];

	return loop_groups_is_once(groups, marker) && code->loop &&
	       code->caller && code->asked >= ASKED_LEAST &&
	       loop_groups_may_be_around(groups, site, marker);
}

/* Hardly anybody asked where it is called, so late it came; the marker lies in
 * two loops, and it may lie in the outer one.  An evaluation has several. */
static bool may_be_further_out(const struct loop_groups *groups, uint32_t site,
			       const struct loop_candidate *step)
{
	const uint32_t marker = groups->site[step->level.first];

	return groups->code[site].asked < ASKED_LEAST &&
	       (!groups->code[site].asked ||
		groups->code[site].loop != groups->code[marker].loop) &&
	       !loop_holds(step, site) && loop_groups_is_once(groups, marker) &&
	       groups->code[marker].depth > LOOP_DEPTH_NONE + 1 &&
	       is_uneven(groups, &step->level, site) &&
	       count_around(groups, &step->level, site).least;
}

/* Of its own it has one site that comes before the step's first turn, and not
 * behind its last, and one the other way round: it begins and ends a turn. */
static bool is_bracket(const struct loop_groups *groups,
		       const struct loop_candidate *around,
		       const struct loop_candidate *step)
{
	uint32_t before[LOOP_SITES_MAX] = {0};
	uint32_t behind[LOOP_SITES_MAX] = {0};
	bool begins = false, ends = false;

	for (size_t i = 0; i < groups->count; i++) {
		if (groups->site[i] >= LOOP_SITES_MAX)
			continue;
		before[groups->site[i]] += i < step->level.first;
		behind[groups->site[i]] += i > step->level.last;
	}
	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (!loop_holds(around, s) || loop_holds(step, s))
			continue;
		begins |= before[s] && !behind[s];
		ends |= behind[s] && !before[s];
	}
	return begins && ends;
}

/* Some of its own sites come before the step's first turn once more than others
 * do: that lies between them. */
static bool is_between(const struct loop_groups *groups,
		       const struct loop_candidate *around,
		       const struct loop_candidate *step)
{
	uint32_t before[LOOP_SITES_MAX] = {0};
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < step->level.first; i++) {
		if (groups->site[i] < LOOP_SITES_MAX)
			before[groups->site[i]]++;
	}
	for (uint32_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (!loop_holds(around, s) || loop_holds(step, s))
			continue;
		least = min_u32(least, before[s]);
		most = (uint32_t)max_u64(most, before[s]);
	}
	return most == least + 1;
}

/* Nothing else comes in its turns, but what a loop around has between them. */
static bool is_all(const struct loop_groups *groups,
		   const struct loop_candidate *around,
		   const struct loop_candidate *step)
{
	const uint32_t marker = groups->site[around->level.first];

	for (size_t i = around->level.first; i < around->level.last; i++) {
		const uint32_t site = groups->site[i];

		if (!loop_holds(around, site) && !loop_holds(step, site) &&
		    !is_body(groups, site, marker))
			return false;
	}
	return true;
}

static size_t count_own(const struct loop_candidate *around,
			const struct loop_candidate *step)
{
	size_t own = 0;

	for (size_t w = 0; w < LOOP_SITES_MAX / 64; w++)
		own += (size_t)__builtin_popcountll(around->held[w] &
						    ~step->held[w]);
	return own;
}

/* One site of its own is enough if the code has it in each turn, and what lies
 * within is small and turns far more often in some than in others: an episode
 * and what is learned from it, a move and the field that has to be consistent
 * with it.  */
static bool is_needed(const struct loop_groups *groups,
		      const struct loop_candidate *around,
		      const struct loop_candidate *step)
{
	const uint32_t site = groups->site[around->level.first];
	const struct around turns = count_around(groups, &step->level, site);

	return around->level.turns >= TURNS_OF_ONE &&
	       step->level.held <= HELD_MOST && around->level.mass >= MASS &&
	       !loop_has_others(step, around) &&
	       (turns.most > turns.least * TWICE ||
		turns.most == turns.least) &&
	       is_body(groups, site, groups->site[step->level.first]);
}

/* Has it all of the step's, and enough of its own?  It begins and ends a turn
 * of a few of the step's, an epoch has more; or some of its turns have none,
 * which no epoch does: a system that is solved before the first iteration. */
static bool is_more(const struct loop_groups *groups,
		    const struct loop_candidate *around,
		    const struct loop_candidate *step)
{
	const size_t own = count_own(around, step);

	if (around->level.turns < TURNS_LEAST || own < NEW_LEAST)
		return false;
	if (loop_has_others(step, around))
		return own * 2 >= around->level.held &&
		       is_between(groups, around, step) &&
		       is_all(groups, around, step);
	return (own * NEW_OF >= around->level.held * NEW_LEAST ||
		(is_bracket(groups, around, step) &&
		 step->level.turns <= FEW_WITHIN * around->level.turns)) &&
	       around->level.mass >= MASS;
}

enum loop_around loop_around_find(struct loop_groups *groups,
				  struct loop_scratch *scratch,
				  const struct loop_candidate *step,
				  bool is_around, struct loop_candidate *around)
{
	const uint32_t marker = groups->site[step->level.first];
	const uint32_t sites = (uint32_t)min_u64(groups->sites, LOOP_SITES_MAX);
	uint32_t nearest = sites;
	bool is_vague = false;

	if (marker >= sites)
		return AROUND_NONE;
	/* Of those of one loop the last one: it ends the turn. */
	for (uint32_t s = 0; s < sites; s++) {
		is_vague |= may_be_further_out(groups, s, step);
		if (!is_further_out(groups, s, marker) ||
		    (!is_uneven(groups, &step->level, s) &&
		     !(is_around && is_of_few(groups, &step->level, s))))
			continue;
		if (are_many(groups, &step->level, s))
			is_vague = true;
		else if (nearest == sites ||
			 groups->code[s].hits >= groups->code[nearest].hits)
			nearest = s;
	}
	if (nearest == sites)
		return is_vague ? AROUND_DOUBT : AROUND_NONE;
	loop_groups_make(groups, 0);
	return loop_candidate_examine(groups, nearest, 0, LOOP_AROUND, scratch,
				      around) &&
			       (is_more(groups, around, step) ||
				is_needed(groups, around, step))
		       ? AROUND_FOUND
		       : AROUND_DOUBT;
}
