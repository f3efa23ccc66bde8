/* SPDX-License-Identifier: MIT */
/*
 * loop_level.h - one group of hits, for loop_nest.c: are they the turns of a
 * loop, and what does that loop hold?
 */
#ifndef WRITER_LOOP_LEVEL_H
#define WRITER_LOOP_LEVEL_H

#include "writer/steps/loop_groups.h"

/* Sites that are told apart, in the order in which they first came. */
#define LOOP_SITES_MAX 1024u

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

static inline bool loop_holds(const struct loop_candidate *candidate,
			      uint32_t site)
{
	return site < LOOP_SITES_MAX &&
	       candidate->held[site / 64] >> site % 64 & 1;
}

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

/* Whether a group is one; if so, fills in the candidate.  `is_by_length`: its
 * turns are as long as each other, else it's what they hold that tells. */
bool loop_candidate_examine(const struct loop_groups *groups, size_t group,
			    unsigned int context, bool is_by_length,
			    struct loop_scratch *scratch,
			    struct loop_candidate *candidate);

#endif
