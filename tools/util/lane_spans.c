/* SPDX-License-Identifier: MIT */
/*
 * lane_spans.c - sorts the slices of a lane and walks them with a stack.
 */
#include "tools/util/lane_spans.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

void lane_spans_add(struct lane_spans *lane, struct lane_span span)
{
	lane->spans = memory_grow(lane->spans, lane->count, &lane->capacity,
				  sizeof(*lane->spans));
	lane->spans[lane->count++] = span;
}

static int compare(const void *left, const void *right)
{
	const struct lane_span *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return b->is_range - a->is_range;
}

void lane_spans_walk(struct lane_spans *lane,
		     bool (*enter)(void *arg, const struct lane_span *outer,
				   struct lane_span *span),
		     void *arg)
{
	struct lane_span *open = NULL;
	size_t depth = 0, capacity = 0;

	if (lane->count)
		qsort(lane->spans, lane->count, sizeof(*lane->spans), compare);
	for (size_t at = 0; at < lane->count; at++) {
		struct lane_span span = lane->spans[at];

		while (depth && open[depth - 1].end_ns <= span.start_ns)
			depth--;
		if (!enter(arg, depth ? &open[depth - 1] : NULL, &span))
			continue;
		open = memory_grow(open, depth, &capacity, sizeof(*open));
		open[depth++] = span;
	}
	free(open);
}

void lane_spans_free(struct lane_spans *lane)
{
	free(lane->spans);
	memset(lane, 0, sizeof(*lane));
}
