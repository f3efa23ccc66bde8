/* SPDX-License-Identifier: MIT */
/* loop_phase.c - the loops before the step and behind it; see loop_phase.h. */
#include "writer/loops/loop_phase.h"

#include "writer/loops/loop_groups.h"
#include <string.h>

/* Of the step's turns and marks another loop has so many at least. */
#define TURNS_OF 2u
#define MARKS_OF 4u
/* About as many turns: all but one in so many. */
#define ALIKE	 10u
/* Of a hundred marks of a loop of one site so many are at it. */
#define DENSE	 90u
/* ... and what holds less, and comes before the step, so many of its marks. */
#define HALF	 2u

/* How often sites come in a part of the run. */
struct hits {
	uint32_t of[LOOP_SITES_MAX];
};

static void count_hits(const struct loop_groups *groups, size_t from, size_t to,
		       struct hits *hits)
{
	memset(hits, 0, sizeof(*hits));
	for (size_t i = from; i < to; i++) {
		if (groups->site[i] < LOOP_SITES_MAX)
			hits->of[groups->site[i]]++;
	}
}

static size_t marks_of(const struct loop_level *level)
{
	return level->last - level->first;
}

/* Both go through the same things, it may be: pictures that are made, and then
 * written. */
static bool is_as_often(const struct loop_level *other,
			const struct loop_level *step)
{
	const size_t most = max_u64(other->turns, step->turns);
	const size_t least = min_u64(other->turns, step->turns);

	return (most - least) * ALIKE <= most &&
	       marks_of(other) * MARKS_OF >= marks_of(step);
}

/* It turns about as often as the step, or has about as many marks.  But what
 * comes before the step and holds less prepares something, unless it is half as
 * much, or may be a part of the same. */
static bool is_large(const struct loop_level *other,
		     const struct loop_level *step)
{
	if (other->turns < LOOP_HITS_LEAST ||
	    (other->turns * TURNS_OF < step->turns &&
	     marks_of(other) * MARKS_OF < marks_of(step)))
		return false;
	return other->first > step->last || other->held >= step->held ||
	       marks_of(other) * HALF >= marks_of(step) ||
	       is_as_often(other, step);
}

/* Most of its sites are its own. */
static bool is_other(const struct loop_groups *groups,
		     const struct loop_level *other,
		     const struct loop_level *step)
{
	struct hits here, there;
	size_t held = 0, own = 0;

	count_hits(groups, step->first + 1, step->last + 1, &there);
	count_hits(groups, other->first + 1, other->last + 1, &here);
	for (size_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (here.of[s] + 1 < other->turns)
			continue;
		held++;
		own += !there.of[s];
	}
	return own * 2 > held;
}

/* A part of the run, searched as if it were all. */
static bool find_in(const struct loop_mark *marks, size_t from, size_t to,
		    void *room, struct loop_level *found)
{
	struct loop_nest nest;

	if (to < from + LOOP_HITS_LEAST)
		return false;
	loop_nest_find_part(marks + from, to - from, room, &nest);
	if (!nest.count)
		return false;
	*found = nest.level[nest.step];
	found->begin += from;
	found->first += from;
	found->last += from;
	return true;
}

/* One site, over and over. */
static bool find_site(const struct loop_groups *groups, size_t from, size_t to,
		      struct loop_level *found)
{
	struct hits hits;
	size_t best = 0;

	count_hits(groups, from, to, &hits);
	for (size_t s = 0; s < LOOP_SITES_MAX; s++) {
		if (hits.of[s] > hits.of[best])
			best = s;
	}
	*found = (struct loop_level){.turns = hits.of[best], .length = 1};
	if (found->turns < LOOP_HITS_LEAST)
		return false;
	for (size_t i = from; i < to; i++) {
		if (groups->site[i] != best)
			continue;
		if (!found->id)
			found->first = i;
		found->id = groups->marks[i].id;
		found->last = i;
	}
	found->begin = found->first;
	found->key = search_key(&found->id, 0);
	found->ticks = loop_level_period(found, groups->marks);
	return found->turns * 100 >= (marks_of(found) + 1) * DENSE;
}

static void add_runner_up(struct loop_nest *nest,
			  const struct loop_level *other)
{
	nest->count = min_u64(nest->count, LOOP_LEVELS_MAX - 1);
	if (nest->step == nest->count)
		nest->level[--nest->step] = nest->level[nest->count];
	nest->runner_up = nest->count;
	nest->level[nest->count++] = *other;
}

bool loop_phase_is_beside(const struct loop_mark *marks, size_t count,
			  void *room, struct loop_nest *nest)
{
	const struct loop_level *step = &nest->level[nest->step];
	struct loop_groups groups;
	struct loop_level other[4];
	size_t others = 0;

	others += find_in(marks, 0, step->begin, room, &other[others]);
	others += find_in(marks, step->last + 1, count, room, &other[others]);
	loop_groups_start(&groups, marks, count, room);
	others += find_site(&groups, step->last + 1, count, &other[others]);
	/* What is more before the step prepares something. */
	others += find_site(&groups, 0, step->begin, &other[others]) &&
		  is_as_often(&other[others], step);
	for (size_t i = 0; i < others; i++) {
		if (is_large(&other[i], step) &&
		    is_other(&groups, &other[i], step)) {
			add_runner_up(nest, &other[i]);
			return true;
		}
	}
	return false;
}
