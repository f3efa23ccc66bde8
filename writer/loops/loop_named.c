/* SPDX-License-Identifier: MIT */
/* loop_named.c - ranges that are called like a step; see loop_named.h. */
#include "writer/loops/loop_named.h"

/* Of names beyond that none is the step. */
#define NAMES_MAX 64u

struct named {
	uint64_t id;
	size_t hits;
	size_t within; /* another one */
	size_t first, last;
	uint64_t third_ticks; /* the third one's end */
};

struct names {
	struct named all[NAMES_MAX];
	size_t count;
};

static struct named *named_of(struct names *names, uint64_t id)
{
	for (size_t i = 0; i < names->count; i++) {
		if (names->all[i].id == id)
			return &names->all[i];
	}
	return NULL;
}

static void count_hits(const struct loop_mark *marks, size_t count,
		       struct names *names)
{
	for (size_t i = 0; i < count; i++) {
		struct named *named;

		if (!marks[i].is_step_like)
			continue;
		named = named_of(names, marks[i].id);
		if (!named && names->count == NAMES_MAX)
			continue;
		if (!named) {
			named = &names->all[names->count++];
			*named = (struct named){.id = marks[i].id, .first = i};
		}
		named->last = i;
		if (++named->hits == LOOP_NAMED_TURNS)
			named->third_ticks = marks[i].end_ticks;
	}
}

/* Those that lie within the outermost one there; with `is_over` of those that
 * turn. */
static void count_within(const struct loop_mark *marks, size_t count,
			 bool is_over, struct names *names)
{
	const struct loop_mark *around = NULL;

	for (size_t i = 0; i < count; i++) {
		struct named *named = marks[i].is_step_like
					      ? named_of(names, marks[i].id)
					      : NULL;

		if (!named || (is_over && named->hits < LOOP_NAMED_TURNS))
			continue;
		if (!around || marks[i].end_ticks > around->end_ticks)
			around = &marks[i];
		else if (around->id != marks[i].id &&
			 marks[i].ticks < around->end_ticks)
			named->within++;
	}
}

static bool is_better(const struct named *a, const struct named *b,
		      bool is_over)
{
	return is_over ? a->last - a->first > b->last - b->first
		       : a->third_ticks < b->third_ticks;
}

bool loop_named_find(const struct loop_mark *marks, size_t count, bool is_over,
		     struct loop_level *found)
{
	struct names names = {.count = 0};
	const struct named *best = NULL;

	count_hits(marks, count, &names);
	count_within(marks, count, is_over, &names);
	for (size_t i = 0; i < names.count; i++) {
		const struct named *named = &names.all[i];

		if (named->hits >= LOOP_NAMED_TURNS &&
		    named->within * 2 <= named->hits &&
		    (!best || is_better(named, best, is_over)))
			best = named;
	}
	if (!best)
		return false;
	/* Each begins a turn, so the hit is the one before. */
	*found = (struct loop_level){.id = best->id,
				     .key = search_key(&best->id, 0),
				     .begin = best->first,
				     .first = best->first,
				     .last = best->last,
				     .turns = best->hits,
				     .length = (best->last - best->first) /
					       (best->hits - 1),
				     .is_begin = true};
	found->ticks = loop_level_period(found, marks);
	return true;
}
