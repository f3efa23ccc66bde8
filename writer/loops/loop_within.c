/* SPDX-License-Identifier: MIT */
/* loop_within.c - a site in another stream's turns; see loop_within.h. */
#include "writer/loops/loop_within.h"

/* Hits in a turn that are told apart. */
#define HITS_MOST     8u
/* Of a hundred turns so many are alike; turns that tell something. */
#define REGULAR_LEAST 90u
#define TURNS_LEAST   4u

/* One turn with so many hits, of which the last began then. */
static void add_turn(struct loop_within *within, size_t *turns,
		     uint64_t *last_ticks, size_t hits, uint64_t ticks)
{
	if (!hits && within->lead == within->turns)
		within->lead++;
	if (!within->turns++)
		within->is_in_first = hits > 0;
	if (hits > HITS_MOST)
		return;
	if (!turns[hits]++)
		last_ticks[hits] = ticks;
}

struct loop_within loop_within(const struct loop_mark *marks,
			       const struct loop_level *level,
			       const struct loop_mark *others, size_t count,
			       uint64_t id, uint64_t until)
{
	struct loop_within within = {0};
	size_t turns[HITS_MOST + 1] = {0};
	uint64_t last_ticks[HITS_MOST + 1] = {0};
	bool has_begun = false;
	size_t at = 0;

	for (size_t i = level->first; i <= level->last; i++) {
		uint64_t ticks = 0;
		size_t hits = 0;

		if (marks[i].end_ticks > until ||
		    !loop_level_is_hit(level, marks, i))
			continue;
		for (; at < count && others[at].ticks < marks[i].ticks; at++) {
			if (others[at].id != id || others[at].end_ticks > until)
				continue;
			ticks = others[at].ticks;
			hits++;
		}
		if (has_begun)
			add_turn(&within, turns, last_ticks, hits, ticks);
		has_begun = true;
	}
	for (size_t hits = 0; hits <= HITS_MOST; hits++) {
		if (turns[hits] <= within.usual)
			continue;
		within.every = hits;
		within.usual = turns[hits];
		within.last = last_ticks[hits];
	}
	return within;
}

bool loop_within_is_regular(const struct loop_within *within)
{
	return within->every && within->turns >= TURNS_LEAST &&
	       within->usual * 100 >= within->turns * REGULAR_LEAST;
}
