/* SPDX-License-Identifier: MIT */
/*
 * nesting.c - sorts the spans of each lane and walks them with a stack.
 */
#include "tools/check/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

struct nesting_lane {
	struct nesting_span *spans;
	size_t count, capacity;
};

void nesting_add(struct nesting *nesting, uint32_t lane,
		 struct nesting_span span)
{
	struct nesting_lane *at;

	if (lane >= nesting->lane_count) {
		nesting->lanes = memory_resize(nesting->lanes, lane + 1u,
					       sizeof(*nesting->lanes));
		memset(nesting->lanes + nesting->lane_count, 0,
		       (lane + 1u - nesting->lane_count) *
			       sizeof(*nesting->lanes));
		nesting->lane_count = lane + 1u;
	}
	at = &nesting->lanes[lane];
	at->spans = memory_grow(at->spans, at->count, &at->capacity,
				sizeof(*at->spans));
	at->spans[at->count++] = span;
}

/* By start; of equal starts the longer one, which is the parent, first. */
static int compare(const void *left, const void *right)
{
	const struct nesting_span *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

void nesting_check(struct nesting *nesting,
		   void (*crossing)(void *arg, uint32_t lane,
				    struct nesting_span outer,
				    struct nesting_span span),
		   void *arg)
{
	struct nesting_span *open = NULL;
	size_t depth = 0, capacity = 0;

	for (size_t lane = 0; lane < nesting->lane_count; lane++) {
		struct nesting_lane *at = &nesting->lanes[lane];

		if (at->count)
			qsort(at->spans, at->count, sizeof(*at->spans),
			      compare);
		depth = 0;
		for (size_t next = 0; next < at->count; next++) {
			const struct nesting_span span = at->spans[next];

			while (depth && open[depth - 1].end_ns <= span.start_ns)
				depth--;
			if (depth && open[depth - 1].end_ns < span.end_ns) {
				crossing(arg, (uint32_t)lane, open[depth - 1],
					 span);
				continue;
			}
			open = memory_grow(open, depth, &capacity,
					   sizeof(*open));
			open[depth++] = span;
		}
	}
	free(open);
}

void nesting_free(struct nesting *nesting)
{
	for (size_t lane = 0; lane < nesting->lane_count; lane++)
		free(nesting->lanes[lane].spans);
	free(nesting->lanes);
	memset(nesting, 0, sizeof(*nesting));
}
