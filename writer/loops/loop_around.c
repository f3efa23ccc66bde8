/* SPDX-License-Identifier: MIT */
/* loop_around.c - loops by the code around a level; see loop_around.h. */
#include "writer/loops/loop_around.h"

/* Turns between two of another site's: at most, on average. */
#define MOST_WITHIN 64u
/* Of its sites so many are new, and as many marks are at sites of each turn. */
#define NEW_LEAST   2u
#define NEW_OF	    9u
#define MASS	    0.9
/* Turns in one that begins and ends with something of its own. */
#define FEW_WITHIN  6u
/* Fewer may be restarts, or folds. */
#define TURNS_LEAST 8u

/* Times that a site's place was asked. */
#define ASKED_LEAST 3u

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

/* Not a batch's more or less in an epoch, either.  Some may have none. */
static bool is_uneven(const struct loop_groups *groups,
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
	return around.hits >= LOOP_HITS_LEAST &&
	       around.head <= 2 * around.most &&
	       around.within <= 2 * around.most &&
	       around.most * 4 > around.least * 5 + 4 &&
	       step->turns - around.head - around.within <=
		       MOST_WITHIN * (around.hits - 1);
}

/* By the code it lies in fewer loops than the marker.  It comes seldom, and
 * only the run's first thousand marks are asked. */
static bool is_further_out(const struct loop_groups *groups, uint32_t site,
			   uint32_t marker)
{
	const struct loop_code *code = &groups->code[site];

	return loop_groups_is_once(groups, marker) && code->loop &&
	       code->caller && code->asked >= ASKED_LEAST && code->depth &&
	       code->depth < groups->code[marker].depth;
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

/* Nothing else comes in its turns. */
static bool is_all(const struct loop_groups *groups,
		   const struct loop_candidate *around,
		   const struct loop_candidate *step)
{
	for (size_t i = around->level.first; i < around->level.last; i++) {
		if (!loop_holds(around, groups->site[i]) &&
		    !loop_holds(step, groups->site[i]))
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
				  struct loop_candidate *around)
{
	const uint32_t marker = groups->site[step->level.first];
	const uint32_t sites = (uint32_t)min_u64(groups->sites, LOOP_SITES_MAX);
	uint32_t nearest = sites;

	if (marker >= sites)
		return AROUND_NONE;
	/* Of those of one loop the last one: it ends the turn. */
	for (uint32_t s = 0; s < sites; s++) {
		if (is_further_out(groups, s, marker) &&
		    is_uneven(groups, &step->level, s) &&
		    (nearest == sites ||
		     groups->code[s].hits >= groups->code[nearest].hits))
			nearest = s;
	}
	if (nearest == sites)
		return AROUND_NONE;
	loop_groups_make(groups, 0);
	return loop_candidate_examine(groups, nearest, 0, LOOP_AROUND, scratch,
				      around) &&
			       is_more(groups, around, step)
		       ? AROUND_FOUND
		       : AROUND_DOUBT;
}
