/* SPDX-License-Identifier: MIT */
/* loop_needed.c - rounds until nothing changes; see loop_needed.h. */
#include "writer/loops/loop_needed.h"

/* Around a region lies another loop than its own. */
static bool is_in_another(const struct loop_code *code)
{
	return code->loop && code->depth > LOOP_DEPTH_NONE + 1;
}

/* What the loop around has in each of its turns: so those are known, however
 * few they are. */
static bool is_around(const struct loop_groups *groups, uint32_t site,
		      uint32_t marker)
{
	const struct loop_code *code = &groups->code[site];

	return code->loop && code->always == code->asked &&
	       loop_groups_is_within(groups, marker, site);
}

bool loop_is_needed(const struct loop_groups *groups,
		    const struct loop_candidate *step)
{
	const uint32_t sites = (uint32_t)min_u64(groups->sites, LOOP_SITES_MAX);
	const uint32_t marker = groups->site[step->level.first];
	const struct loop_code *code = groups->code;
	bool is_needed = false;

	if (marker >= sites || !is_in_another(&code[marker]))
		return false;
	for (uint32_t s = 0; s < sites; s++) {
		if (is_around(groups, s, marker))
			return false;
		if (code[s].hits < LOOP_HITS_LEAST)
			continue;
		if (code[s].loop == code[marker].loop)
			is_needed |= code[s].needed == code[s].asked;
		else if (!loop_groups_is_within(groups, s, marker))
			return false;
	}
	return is_needed;
}
