/* SPDX-License-Identifier: MIT */
/* region_join.c - the table of ended regions; see region_join.h. */
#include "writer/region_join.h"

/* Each thread hands out its ids in turn, and a multiplier spreads them evenly:
 * about this many lie between two that share a place.  A wait whose region's
 * end was overwritten isn't drawn. */
#define REGIONS_KEPT 65536u
#define SPREAD	     UINT64_C(0x9e3779b97f4a7c15)

int region_join_start(struct region_join *join)
{
	*join = (struct region_join){0};
	return array_reserve(&join->array,
			     REGIONS_KEPT * sizeof(struct region_end));
}

void region_join_end(struct region_join *join)
{
	array_free(&join->array);
}

_Static_assert(REGIONS_KEPT == 1u << (64 - 48), "all bits of the spread");

static struct region_end *place(const struct region_join *join, uint64_t region)
{
	return (struct region_end *)join->array.base + (region * SPREAD >> 48);
}

void region_join_add(struct region_join *join, uint64_t region,
		     uint64_t end_ticks, bool is_drained)
{
	struct region_end *end = place(join, region);

	/* The scan is ahead of the drain: what it found last stays. */
	if (!region || (end->region != region && end->end_ticks > end_ticks))
		return;
	end->region = region;
	end->end_ticks = end_ticks;
	end->is_drained = is_drained;
}

const struct region_end *region_join_find(const struct region_join *join,
					  uint64_t region)
{
	const struct region_end *end = place(join, region);

	return region && end->region == region ? end : NULL;
}
