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
 * behind its last, and one the other way round: it begins and ends a turn of a
 * few of the step's.  An epoch has more. */
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
	return begins && ends &&
	       step->level.turns <= FEW_WITHIN * around->level.turns;
}

/* Has it all of the step's, and enough of its own? */
static bool is_more(const struct loop_groups *groups,
		    const struct loop_candidate *around,
		    const struct loop_candidate *step)
{
	const size_t added = around->level.held - step->level.held;

	return !loop_has_others(step, around) &&
	       around->level.turns >= TURNS_LEAST &&
	       around->level.held > step->level.held && added >= NEW_LEAST &&
	       (added * NEW_OF >= around->level.held * NEW_LEAST ||
		is_bracket(groups, around, step)) &&
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
