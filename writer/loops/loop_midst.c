/* SPDX-License-Identifier: MIT */
/* loop_midst.c - what comes in several places of a turn; see loop_midst.h. */
#include "writer/loops/loop_midst.h"

/* A turn of more is not looked at. */
#define MARKS_MOST 512u
/* So many of a turn's own lie between two places, either way round. */
#define APART	   2u
/* Of 10 turns that have something besides, in so many it is in the midst. */
#define OF_TURNS   10u
#define MOST_TURNS 9u
/* Turns at the run's ends that may be in neither of two branches. */
#define IN_NEITHER 2u

/* A turn's marks at sites that the level holds. */
struct usual {
	uint32_t site[MARKS_MOST];
	size_t count;
};

static bool read_usual(const struct loop_groups *groups,
		       const struct loop_candidate *inner, size_t begin,
		       size_t end, struct usual *usual)
{
	usual->count = 0;
	for (size_t i = begin; i <= end; i++) {
		if (!loop_holds(inner, groups->site[i]))
			continue;
		if (usual->count == MARKS_MOST)
			return false;
		usual->site[usual->count++] = groups->site[i];
	}
	return true;
}

/* All of a usual turn comes in this one, in the same order, and what doesn't
 * lies in places that are far from each other, however the one is laid on the
 * other: as early as can be and as late as can be. */
static bool is_split(const struct loop_groups *groups,
		     const struct loop_candidate *inner,
		     const struct loop_candidate *outer,
		     const struct usual *usual, size_t begin, size_t end)
{
	uint16_t early[MARKS_MOST];
	size_t at = 0, least = SIZE_MAX, most = 0;

	if (end - begin >= MARKS_MOST)
		return false;
	for (size_t i = begin; i <= end; i++) {
		early[i - begin] = (uint16_t)at;
		at += at < usual->count && groups->site[i] == usual->site[at];
	}
	if (at < usual->count)
		return false;
	for (size_t i = end + 1; i-- > begin;) {
		const uint32_t site = groups->site[i];

		if (at && site == usual->site[at - 1]) {
			at--;
		} else if (early[i - begin] == at && loop_holds(outer, site) &&
			   !loop_holds(inner, site)) {
			least = min_u64(least, at);
			most = max_u64(most, at);
		}
	}
	return least != SIZE_MAX && most - least >= APART &&
	       usual->count - (most - least) >= APART;
}

bool loop_is_in_midst(const struct loop_groups *groups,
		      const struct loop_candidate *inner,
		      const struct loop_candidate *outer)
{
	struct usual usual = {.count = 0};
	size_t begin = inner->level.first + 1;
	size_t with = 0, split = 0;
	bool is_with = false;

	/* The first that has nothing besides. */
	for (size_t i = begin; i <= inner->level.last && !usual.count; i++) {
		is_with |= loop_level_is_hit(&outer->level, groups->marks, i);
		if (!loop_level_is_hit(&inner->level, groups->marks, i))
			continue;
		if (!is_with && i + 1 - begin == inner->level.length &&
		    !read_usual(groups, inner, begin, i, &usual))
			return false;
		begin = i + 1;
		is_with = false;
	}
	if (usual.count < 2 * APART)
		return false;
	begin = inner->level.first + 1;
	is_with = false;
	for (size_t i = begin; i <= inner->level.last; i++) {
		is_with |= loop_level_is_hit(&outer->level, groups->marks, i);
		if (!loop_level_is_hit(&inner->level, groups->marks, i))
			continue;
		with += is_with;
		split += is_with &&
			 is_split(groups, inner, outer, &usual, begin, i);
		begin = i + 1;
		is_with = false;
	}
	return with && split * OF_TURNS >= with * MOST_TURNS;
}

/* Another level has each of the turns that have the site not. */
static bool is_other_branch(const struct loop_groups *groups,
			    const struct loop_candidate *levels, size_t count,
			    const struct loop_candidate *inner, size_t hits)
{
	for (size_t i = 0; i < count; i++) {
		const size_t turns = levels[i].level.turns + hits;

		if (turns + IN_NEITHER >= inner->level.turns &&
		    turns <= inner->level.turns + IN_NEITHER &&
		    loop_is_in_midst(groups, inner, &levels[i]))
			return true;
	}
	return false;
}

bool loop_has_branches(const struct loop_groups *groups,
		       const struct loop_candidate *levels, size_t count,
		       const struct loop_candidate *inner,
		       const struct loop_candidate *outer)
{
	size_t branches = 0;

	for (size_t i = 0; i < count; i++) {
		const struct loop_level *level = &levels[i].level;
		const uint32_t site = groups->site[level->first];

		if (level->context || !loop_holds(outer, site) ||
		    loop_holds(inner, site))
			continue;
		if (!is_other_branch(groups, levels, count, inner,
				     level->turns))
			return false;
		branches++;
	}
	return branches;
}
