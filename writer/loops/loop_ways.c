/* SPDX-License-Identifier: MIT */
/* loop_ways.c - turns that lack a part of the step; see loop_ways.h. */
#include "writer/loops/loop_ways.h"

#include <string.h>

/* What the loop's body does before the loop and behind it. */
#define OUTSIDE	    2u
/* Turns to one with all of it: at most, and if not always as many. */
#define RATIO_MOST  12.5
#define RATIO_LOOSE 2.0

/* The next inner turn after a hit, with an outer hit or without: from behind
 * the one to the other. */
static bool find_turn(const struct loop_groups *groups,
		      const struct loop_candidate *inner,
		      const struct loop_candidate *outer, bool is_with,
		      size_t *begin, size_t *end)
{
	bool is_outer = false;

	*begin = inner->level.first + 1;
	for (size_t i = *begin; i <= inner->level.last; i++) {
		is_outer |= i >= outer->level.first && i <= outer->level.last &&
			    loop_level_is_hit(&outer->level, groups->marks, i);
		if (!loop_level_is_hit(&inner->level, groups->marks, i))
			continue;
		*end = i;
		if (is_outer == is_with)
			return true;
		*begin = i + 1;
		is_outer = false;
	}
	return false;
}

/* The marks up to a hit are those of a turn. */
static bool is_turn(const struct loop_groups *groups, size_t hit, size_t begin,
		    size_t end)
{
	const size_t back = end - begin;

	return hit >= back &&
	       !memcmp(groups->site + hit - back, groups->site + begin,
		       (back + 1) * sizeof(*groups->site));
}

/* What both kinds of turns have in common is one piece, from one turn into the
 * next: the run begins in the middle of it. */
static bool begins_within(const struct loop_groups *groups,
			  const struct loop_candidate *inner,
			  const struct loop_candidate *outer)
{
	const uint32_t *site = groups->site;
	const size_t first = inner->level.first;
	size_t a, a_end, b, b_end, least;
	size_t before = 0;
	size_t behind = 0;

	if (!find_turn(groups, inner, outer, false, &a, &a_end) ||
	    !find_turn(groups, inner, outer, true, &b, &b_end))
		return false;
	least = min_u64(a_end - a, b_end - b) + 1;
	while (behind < least && site[a_end - behind] == site[b_end - behind])
		behind++;
	while (before + behind < least && site[a + before] == site[b + before])
		before++;
	if (behind > 2 && (!first || site[first - 1] != site[a_end - 1]))
		return true;
	return before && (is_turn(groups, first, a, a_end) ||
			  is_turn(groups, first, b, b_end));
}

bool loop_is_one_way(const struct loop_groups *groups,
		     struct loop_scratch *scratch,
		     const struct loop_candidate *loop,
		     const struct loop_candidate *step)
{
	struct gain gain;

	if (loop->level.context || loop_has_others(loop, step) ||
	    loop->level.turns <= step->level.turns + OUTSIDE ||
	    loop->level.missing > step->level.missing)
		return false;
	gain = loop_gain(groups, scratch, loop, step);
	if (!gain.sites ||
	    gain.ratio > (gain.is_constant ? RATIO_MOST : RATIO_LOOSE))
		return false;
	return (gain.is_late && !gain.is_pass) ||
	       begins_within(groups, loop, step);
}
