/* SPDX-License-Identifier: MIT */
/* region_join.c - the table of ended regions; see region_join.h. */
#include "writer/state/region_join.h"

/* Each thread hands out its ids in turn.  So many in a row lie side by side, in
 * cache lines that are used at once, and a multiplier spreads the rows evenly.
 * Rows of several threads may meet: each can lie in any of some places, and
 * drives out what ended first.  A wait whose region's end was driven out isn't
 * drawn, and counted as lost. */
#define ROW_BITS     6
#define ROWS_BITS    10
#define REGIONS_KEPT (1u << (ROWS_BITS + ROW_BITS))
#define SPREAD	     UINT64_C(0x9e3779b97f4a7c15)
#define PLACES	     4

void region_join_start(struct region_join *join)
{
	*join = (struct region_join){0};
}

void region_join_end(struct region_join *join)
{
	array_free(&join->array);
}

static struct region_end *place(const struct region_join *join, uint64_t region,
				unsigned int at)
{
	const uint64_t row =
		((region >> ROW_BITS) * SPREAD >> (64 - ROWS_BITS - at * 8)) &
		((1u << ROWS_BITS) - 1);

	return (struct region_end *)join->array.base +
	       (row << ROW_BITS | (region & ((1u << ROW_BITS) - 1)));
}

/* Where it is, or else the place of what ended first. */
static struct region_end *place_for(const struct region_join *join,
				    uint64_t region)
{
	struct region_end *oldest = place(join, region, 0);

	for (unsigned int at = 0; at < PLACES; at++) {
		struct region_end *end = place(join, region, at);

		if (end->region == region)
			return end;
		if (end->end_ticks < oldest->end_ticks)
			oldest = end;
	}
	return oldest;
}

void region_join_add(struct region_join *join, uint64_t region,
		     uint64_t end_ticks, bool is_drained)
{
	struct region_end *end;

	if (unlikely(!join->array.base) &&
	    array_reserve_touched(&join->array,
				  REGIONS_KEPT * sizeof(struct region_end)))
		return;
	end = place_for(join, region);
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
	if (!region || !join->array.base)
		return NULL;
	for (unsigned int at = 0; at < PLACES; at++) {
		const struct region_end *end = place(join, region, at);

		if (end->region == region)
			return end;
	}
	return NULL;
}
