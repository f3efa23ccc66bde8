/* SPDX-License-Identifier: MIT */
/*
 * lane_spans.h - the slices of one lane, and which of them lies in which.
 *
 * A slice is written when it ends, so children come before their parents and
 * nesting can only be told once all were seen: 24 bytes a slice are kept until
 * then.
 */
#ifndef TOOLS_LANE_SPANS_H
#define TOOLS_LANE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane_span {
	int64_t start_ns, end_ns;
	uint32_t name;	    /* a number of the owner's */
	uint32_t mark : 31; /* the owner's */
	bool is_range : 1;  /* around work that is as long as itself */
};

struct lane_spans {
	struct lane_span *spans;
	size_t count, capacity;
};

void lane_spans_add(struct lane_spans *lane, struct lane_span span);

/* Sorts them by start, of equal starts the longer one, which is the parent,
 * first, of equal slices the range.  Then calls enter() for each with the
 * innermost one that is still open at its start, NULL none.  True: it may
 * enclose what follows. */
void lane_spans_walk(struct lane_spans *lane,
		     bool (*enter)(void *arg, const struct lane_span *outer,
				   struct lane_span *span),
		     void *arg);

/* How much of `span` lies in `outer`: not all, where they cross. */
static inline int64_t lane_span_inside_ns(const struct lane_span *outer,
					  const struct lane_span *span)
{
	return (outer->end_ns < span->end_ns ? outer->end_ns : span->end_ns) -
	       span->start_ns;
}

void lane_spans_free(struct lane_spans *lane);

#endif
