/* SPDX-License-Identifier: MIT */
/*
 * loop_level.h - one group of hits, for loop_nest.c: are they the turns of a
 * loop, and what does that loop hold?
 */
#ifndef WRITER_LOOP_LEVEL_H
#define WRITER_LOOP_LEVEL_H

#include "writer/loops/loop_groups.h"

/* A loop of which a smaller share of the marks is at sites of each turn lacks
 * something. */
#define LOOP_POOR_MASS	 0.96
/* Turns without their marker, of a step. */
#define LOOP_MISSED_MOST 1u
/* Shares of marks that are alike. */
#define LOOP_SAME_MASS	 0.005
/* Of more turns than that the median is some of them's. */
#define LOOP_SAMPLES	 63u

struct loop_candidate {
	struct loop_level level;
	size_t span; /* marks from the first turn's begin to the last's end */
	uint64_t held[LOOP_SITES_MAX / 64];
};

/* Working memory of loop_candidate_examine(). */
struct loop_scratch {
	uint32_t turn[LOOP_SITES_MAX];	 /* the last one in which it came */
	uint32_t turns[LOOP_SITES_MAX];	 /* in how many it came */
	uint32_t inside[LOOP_SITES_MAX]; /* how often */
};

/* Sorts them; `count` of 1 and more. */
uint64_t loop_median(uint64_t *values, size_t count);

static inline bool loop_holds(const struct loop_candidate *candidate,
			      uint32_t site)
{
	return site < LOOP_SITES_MAX &&
	       candidate->held[site / 64] >> site % 64 & 1;
}

/* What tells that a group's turns are a loop's. */
enum loop_told {
	LOOP_BY_LENGTH,	 /* they are as long as each other */
	LOOP_BY_CONTENT, /* they hold the same */
	LOOP_BY_CODE,	 /* nothing else comes, and the code has one loop */
	LOOP_BY_BODY, /* the code has it in each turn of a loop that does more
			    of one thing in some turns than in others */
	LOOP_AROUND   /* by the code it is around another level */
};

#define LOOP_TOLD 4u

/* Has `a` sites that `b` doesn't hold? */
static inline bool loop_has_others(const struct loop_candidate *a,
				   const struct loop_candidate *b)
{
	for (size_t w = 0; w < LOOP_SITES_MAX / 64; w++) {
		if (a->held[w] & ~b->held[w])
			return true;
	}
	return false;
}

/* Two that tell of one loop: about as many turns. */
static inline bool loop_is_same(const struct loop_level *a,
				const struct loop_level *b)
{
	const size_t more = max_u64(a->turns, b->turns);
	const size_t less = min_u64(a->turns, b->turns);

	return more - less <= 2 + more / 32;
}

/* Turns of a training, not those of an evaluation, too. */
static inline bool loop_lacks_less(const struct loop_level *a,
				   const struct loop_level *b)
{
	return (!a->missing && a->turns < b->turns && b->missing > 3) ||
	       a->missing * 2 + b->turns / 32 + 1 < b->missing;
}

/* It holds more, or what it holds is more of its turns, or it turns more. */
static inline bool loop_is_richer(const struct loop_level *a,
				  const struct loop_level *b)
{
	if (a->held != b->held)
		return a->held > b->held;
	if (a->mass > b->mass + LOOP_SAME_MASS ||
	    b->mass > a->mass + LOOP_SAME_MASS)
		return a->mass > b->mass;
	return a->turns > b->turns;
}

/* Whether a group is one; if so, fills in the candidate. */
bool loop_candidate_examine(const struct loop_groups *groups, size_t group,
			    unsigned int context, enum loop_told told,
			    struct loop_scratch *scratch,
			    struct loop_candidate *candidate);

/* Counts the turns anew: those after a long pause are turns, too, but a call in
 * no loop before one in a loop is none. */
void loop_level_count(const struct loop_groups *groups,
		      struct loop_level *level);

#endif
