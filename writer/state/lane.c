/* SPDX-License-Identifier: MIT */
/* lane.c - first lane where a range nests; see lane.h. */
#include "writer/state/lane.h"

#include <string.h>

/* Where a span that ends last of all may begin on this lane: spans that it
 * would hold whole don't count.  The new number of outermost spans is *left. */
static uint64_t earliest(const struct lane_set *set, unsigned int lane,
			 uint64_t start_ns, unsigned int *left)
{
	unsigned int count = set->lane[lane].count;
	const struct lane_span *kept = set->lane[lane].kept;

	while (count && kept[count - 1].start_ns >= start_ns)
		count--;
	*left = count;
	return count ? kept[count - 1].end_ns : set->lane[lane].floor_ns;
}

static void add(struct lane_set *set, unsigned int lane, uint64_t start_ns,
		uint64_t end_ns, unsigned int left)
{
	struct lane_span *kept = set->lane[lane].kept;

	if (left == LANE_KEPT) {
		set->lane[lane].floor_ns = kept[0].end_ns;
		memmove(kept, kept + 1, (LANE_KEPT - 1) * sizeof(*kept));
		left--;
	}
	kept[left].start_ns = start_ns;
	kept[left].end_ns = end_ns;
	set->lane[lane].count = left + 1;
}

unsigned int lane_place(struct lane_set *set, uint64_t *start_ns,
			uint64_t end_ns)
{
	const unsigned int last = LANE_RANGES - 1;
	unsigned int left;

	for (unsigned int lane = 0; lane < LANE_RANGES; lane++) {
		if (earliest(set, lane, *start_ns, &left) <= *start_ns) {
			add(set, lane, *start_ns, end_ns, left);
			return lane;
		}
	}
	*start_ns = min_u64(earliest(set, last, *start_ns, &left), end_ns);
	earliest(set, last, *start_ns, &left);
	add(set, last, *start_ns, end_ns, left);
	return last;
}
