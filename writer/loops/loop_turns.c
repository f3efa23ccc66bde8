/* SPDX-License-Identifier: MIT */
/* loop_turns.c - turns of loops by the places in them; see loop_turns.h. */
#include "writer/loops/loop_turns.h"

#include <string.h>

/* Loops by number that are told apart. */
#define LOOPS	     256u
/* Calls from a place, to tell something; and turns more or less that are none:
 * a loop that is left in the midst. */
#define CALLS_LEAST  10u
#define TURNS_BESIDE 2u
/* Calls in a turn, at most; turns of the loop around, to be in doubt; and sites
 * that so few of them may have and be no batch. */
#define EVERY_MOST   4u
#define ROUNDS_LEAST 16u
#define SITES_FEW    4u
/* Of so many hits one may come from elsewhere. */
#define FEW_OF	     10u
/* Turns with calls that an uncounted loop makes; and so many calls in one: more
 * of them are batches. */
#define AGAIN_LEAST  8u
#define AGAIN_MOST   24u

/* What the marks from one place say. */
struct place {
	uint64_t id;
	bool is_mixed;		/* several sites' */
	uint32_t calls, always; /* the second: by the code each turn has it */
	uint32_t same, round;	/* no loop had turned; one further out had */
	uint32_t unknown;
	uint32_t hits; /* of the level that is looked at */
	uint16_t loop;
	uint8_t within;
};

struct places {
	struct place place[SEARCH_CALLER + 1];
	uint32_t turns[LOOPS]; /* of each loop, at least */
	uint32_t calls[LOOPS]; /* that lie in no loop within it; in all, */
	uint32_t most[LOOPS];  /* ... and from one place: one a turn, or less */
	uint32_t looked;       /* calls from known places */
};

static void read_places(const struct loop_mark *marks, size_t count,
			struct places *places)
{
	memset(places, 0, sizeof(*places));
	for (size_t i = 0; i < count; i++) {
		const struct loop_mark *mark = &marks[i];
		struct place *place;

		if (!mark->caller || mark->is_graph ||
		    mark->caller > SEARCH_CALLER)
			continue;
		place = &places->place[mark->caller];
		if (!place->calls++)
			place->id = mark->id;
		place->is_mixed |= place->id != mark->id;
		place->loop = mark->loop;
		place->within = mark->within;
		place->always += mark->is_always;
		place->same += mark->turn == SEARCH_TURN_SAME;
		place->round += mark->turn == SEARCH_TURN_ROUND;
		place->unknown += mark->turn == SEARCH_TURN_UNKNOWN;
	}
}

/* Never twice in a turn. */
static bool is_once(const struct place *place)
{
	return place->calls && !place->same && !place->unknown;
}

static bool is_each(const struct place *place)
{
	return place->loop && (is_once(place) || place->always == place->calls);
}

static void count_turns(struct places *places)
{
	uint32_t *turns = places->turns;

	for (size_t i = 1; i <= SEARCH_CALLER; i++) {
		const struct place *place = &places->place[i];

		places->looked += place->calls;
		if (place->loop && place->loop < LOOPS) {
			places->calls[place->loop] += place->calls;
			places->most[place->loop] = (uint32_t)max_u64(
				places->most[place->loop], place->calls);
		}
		if (place->is_mixed)
			continue;
		if (is_each(place) && place->loop < LOOPS)
			turns[place->loop] = (uint32_t)max_u64(
				turns[place->loop], place->calls);
		/* The loop around it, or one around that, which enters it. */
		if (is_once(place))
			turns[place->within] = (uint32_t)max_u64(
				turns[place->within], place->round);
	}
	turns[0] = 0;
	/* By the code both come in each turn, and one far more often: a call
	 * through a pointer, so that the loop is not what it seems. */
	for (size_t i = 1; i <= SEARCH_CALLER; i++) {
		const struct place *place = &places->place[i];

		if (place->loop && place->loop < LOOPS && !is_once(place) &&
		    is_each(place) &&
		    turns[place->loop] > 2 * place->calls + TURNS_BESIDE)
			turns[place->loop] = 0;
	}
}

/* Those that the level's hits come from, but for a few; and whether all lie in
 * one loop. */
struct of_marker {
	uint32_t count, hits;
	uint32_t least, most;	/* calls from one of them */
	uint32_t loop;		/* 0 not known, or several */
	bool is_each;		/* each of them comes once in a turn */
	bool is_again, is_once; /* some do in the same turn, some never */
	bool is_unclear;	/* other sites come from there, too */
	const struct place *one;
};

static uint32_t count_hits(const struct loop_mark *marks, size_t count,
			   const struct loop_level *level,
			   struct places *places)
{
	uint32_t hits = 0;

	for (size_t i = level->first; i <= level->last && i < count; i++) {
		const uint16_t caller = marks[i].caller;

		if (!caller || caller > SEARCH_CALLER ||
		    !loop_level_is_hit(level, marks, i))
			continue;
		places->place[caller].hits++;
		hits++;
	}
	return hits;
}

/* In the first `count` marks. */
static struct of_marker find_marker(struct places *places,
				    const struct loop_mark *marks, size_t count,
				    const struct loop_level *level)
{
	struct of_marker found = {.least = UINT32_MAX, .is_each = true};
	uint32_t hits;

	read_places(marks, count, places);
	hits = count_hits(marks, count, level, places);
	for (size_t i = 1; i <= SEARCH_CALLER; i++) {
		const struct place *place = &places->place[i];

		if (!place->hits || place->hits * FEW_OF < hits)
			continue;
		found.is_unclear |= place->is_mixed;
		if (!found.count++)
			found.loop = place->loop;
		if (found.loop != place->loop)
			found.loop = 0;
		found.one = place;
		found.hits += place->hits;
		found.least = min_u32(found.least, place->calls);
		found.most = (uint32_t)max_u64(found.most, place->calls);
		found.is_each &= is_each(place);
		found.is_again |= place->calls >= CALLS_LEAST &&
				  place->same * 2 >= place->calls;
		found.is_once |= place->calls >= CALLS_LEAST && is_once(place);
	}
	return found;
}

/* Sites in a loop, two where one place has several. */
static uint32_t sites_in(const struct places *places, uint32_t loop)
{
	uint32_t sites = 0;

	for (size_t i = 1; i <= SEARCH_CALLER; i++) {
		const struct place *place = &places->place[i];

		if (place->calls && place->loop == loop)
			sites += 1 + place->is_mixed;
	}
	return sites;
}

/* A few turns of a loop of little, each time the one around it turns: colours
 * of a sweep, or stages of a time step. */
static bool is_few_in_round(const struct places *places,
			    const struct of_marker *marker)
{
	const struct place *place = marker->one;

	return marker->count == 1 && is_once(place) &&
	       place->round >= ROUNDS_LEAST &&
	       place->calls + TURNS_BESIDE >= 2 * place->round &&
	       place->calls <= EVERY_MOST * place->round &&
	       (!place->loop || sites_in(places, place->loop) < SITES_FEW);
}

/* What is called again and again in a turn, by a `while` or by a library, is no
 * turn of that loop; and of an inner one it isn't known.  So too where other
 * calls of the same site are one in a turn: evaluations, and steps. */
static bool is_again_in_turn(const struct of_marker *marker)
{
	const struct place *place = marker->one;
	const uint32_t turns = place->calls - place->same - place->unknown;

	return marker->is_again &&
	       (marker->is_once ||
		(marker->count == 1 && turns >= AGAIN_LEAST &&
		 place->calls <= AGAIN_MOST * turns));
}

/* Once from each of its places in a turn of their loop: that is known of each,
 * or none in the loop comes more often, and most of all lies in it. */
static uint32_t hits_in_turn(const struct places *places,
			     const struct of_marker *marker)
{
	const uint32_t loop = marker->loop;

	if (!loop || loop >= LOOPS || marker->least < CALLS_LEAST ||
	    marker->most > marker->least + 1 ||
	    places->turns[loop] > marker->most + TURNS_BESIDE)
		return 0;
	return marker->is_each || (places->most[loop] <=
					   marker->most + TURNS_BESIDE &&
				   places->calls[loop] * 2 >= places->looked)
		       ? marker->count
		       : 0;
}

bool loop_turns_are_doubtful(const struct loop_mark *marks, size_t count,
			     struct loop_level *level)
{
	struct places places;
	struct of_marker marker;
	uint32_t every;

	if (level->is_end || marks[level->first].is_graph)
		return false;
	marker = find_marker(&places, marks, count, level);
	if (marker.count && !marker.is_unclear && is_again_in_turn(&marker))
		return true;
	/* Numbers of calls are compared where each was looked at. */
	marker = find_marker(&places, marks,
			     min_u64(count, SEARCH_CALLS_LOOKED), level);
	if (!marker.count || marker.is_unclear)
		return false;
	count_turns(&places);
	if ((marker.loop && marker.loop < LOOPS &&
	     marker.hits + TURNS_BESIDE < places.turns[marker.loop]) ||
	    (!level->context && is_few_in_round(&places, &marker)))
		return true;
	every = level->context ? 1 : hits_in_turn(&places, &marker);
	if (every > 1 && every <= EVERY_MOST) {
		level->every = every;
		level->turns /= every;
		level->ticks *= every;
	}
	return false;
}

bool loop_turns_decide(const struct loop_mark *marks, size_t count,
		       struct loop_nest *nest)
{
	const size_t looked = min_u64(count, SEARCH_CALLS_LOOKED);
	const struct loop_level *step = &nest->level[nest->step];
	struct loop_level *other = &nest->level[nest->runner_up];
	struct places places;
	struct of_marker marker;
	uint32_t loop;

	if (nest->runner_up >= nest->count || step->context || other->context)
		return false;
	marker = find_marker(&places, marks, looked, step);
	count_turns(&places);
	loop = marker.loop;
	if (marker.is_unclear || hits_in_turn(&places, &marker) < 2)
		return false;
	marker = find_marker(&places, marks, looked, other);
	count_turns(&places);
	if (marker.loop != loop || marker.is_unclear ||
	    hits_in_turn(&places, &marker) != 1)
		return false;
	nest->step = nest->runner_up;
	nest->runner_up = nest->count;
	nest->outer = 0;
	return true;
}
