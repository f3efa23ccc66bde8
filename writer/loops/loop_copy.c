/* SPDX-License-Identifier: MIT */
/* loop_copy.c - what is copied now and then; see loop_copy.h. */
#include "writer/loops/loop_copy.h"

/* A little: one of so many parts of an inner turn. */
#define LITTLE	   4u
/* In so many of ten turns. */
#define OF_TURNS   10u
#define MOST_TURNS 9u

/* Of an inner turn that has nothing of the outer level's. */
static bool count_copies(const struct loop_groups *groups,
			 const struct loop_candidate *inner,
			 const struct loop_candidate *outer, size_t *copies)
{
	size_t begin = inner->level.first + 1;
	bool is_with = false;

	*copies = 0;
	for (size_t i = begin; i <= inner->level.last; i++) {
		is_with |= loop_level_is_hit(&outer->level, groups->marks, i);
		*copies += groups->marks[i].is_copy;
		if (!loop_level_is_hit(&inner->level, groups->marks, i))
			continue;
		if (!is_with && i + 1 - begin == inner->level.length)
			return true;
		begin = i + 1;
		is_with = false;
		*copies = 0;
	}
	return false;
}

/* What the inner level doesn't hold lies in one place between two hits, and
 * ends with a copy there. */
static bool ends_with_copy(const struct loop_groups *groups,
			   const struct loop_candidate *inner,
			   const struct loop_candidate *outer)
{
	size_t places = 0, copies = 0;

	for (size_t i = outer->level.first; i <= outer->level.last; i++) {
		if (loop_holds(inner, groups->site[i]) ||
		    (i + 1 < groups->count &&
		     !loop_holds(inner, groups->site[i + 1])))
			continue;
		places++;
		copies += groups->marks[i].is_copy;
	}
	return places <= outer->level.turns &&
	       copies * OF_TURNS >= places * MOST_TURNS;
}

/* Between two hits there is a copy more than in so many inner turns. */
static enum loop_copy copy_in(const struct loop_groups *groups,
			      const struct loop_candidate *inner, size_t begin,
			      size_t end, size_t within, size_t copies)
{
	size_t own = 0, found = 0, more;

	for (size_t i = begin; i < end; i++) {
		found += groups->marks[i].is_copy;
		own += !loop_holds(inner, groups->site[i]);
	}
	if (end - begin <= within || found != copies + 1)
		return COPY_NOT;
	more = end - begin - within;
	if (more == 1)
		return COPY_ALONE;
	return own && more * LITTLE <= inner->level.length ? COPY_LAST
							   : COPY_NOT;
}

enum loop_copy loop_copy_of(const struct loop_groups *groups,
			    const struct loop_candidate *inner,
			    const struct loop_candidate *outer, size_t usual)
{
	const size_t within = usual * inner->level.length;
	size_t before = outer->level.first, copies;
	size_t turns = 0, alone = 0, last = 0;

	if (inner->level.length < 2 ||
	    !count_copies(groups, inner, outer, &copies) ||
	    !ends_with_copy(groups, inner, outer))
		return COPY_NOT;
	for (size_t i = before + 1; i <= outer->level.last; i++) {
		enum loop_copy copy;

		if (!loop_level_is_hit(&outer->level, groups->marks, i))
			continue;
		/* The hit belongs to what is before it. */
		copy = copy_in(groups, inner, before + 1, i + 1, within,
			       copies * usual);
		alone += copy == COPY_ALONE;
		last += copy == COPY_LAST;
		before = i;
		turns++;
	}
	if (!turns || (alone + last) * OF_TURNS < turns * MOST_TURNS)
		return COPY_NOT;
	return last ? COPY_LAST : COPY_ALONE;
}
