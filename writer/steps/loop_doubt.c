/* SPDX-License-Identifier: MIT */
/* loop_doubt.c - what else comes between a level's turns; see loop_doubt.h. */
#include "writer/steps/loop_doubt.h"

#include <string.h>

/* Turns without their marker, of a step. */
#define MISSED_MOST 1u
/* Of so many turns all but one have what isn't in each: branches. */
#define BRANCHED_OF 20u

/* By the code it comes in some turns of the marker's loop, not around it. */
static bool is_in_turns(const struct loop_groups *groups, uint32_t site,
			uint32_t marker)
{
	return loop_groups_is_once(groups, marker) &&
	       groups->code[site].loop == groups->code[marker].loop;
}

bool loop_is_doubtful(struct loop_groups *groups,
		      const struct loop_candidate *candidate, size_t *seldom)
{
	const struct loop_level *step = &candidate->level;
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	const uint32_t marker = groups->site[step->first];
	uint32_t *hits = groups->start;
	size_t others = 0;
	size_t branched = 0;
	bool is_other = false;

	memset(hits, 0, (sites + 1) * sizeof(*hits));
	for (size_t i = step->first; i < groups->count; i++) {
		if (groups->site[i] < sites &&
		    !loop_holds(candidate, groups->site[i])) {
			others += ++hits[groups->site[i]] == LOOP_HITS_LEAST &&
				  i < step->last &&
				  !is_in_turns(groups, groups->site[i], marker);
			is_other = true;
		} else if (loop_level_is_hit(step, groups->marks, i)) {
			branched += is_other;
			is_other = false;
		}
	}
	*seldom = 0;
	for (size_t s = 0; s < sites; s++) {
		if (hits[s] && (!*seldom || hits[s] < *seldom))
			*seldom = hits[s];
	}
	return step->missed > MISSED_MOST ||
	       (step->mass < LOOP_POOR_MASS && others >= step->held &&
		branched * BRANCHED_OF < (step->turns - 1) * (BRANCHED_OF - 1));
}
