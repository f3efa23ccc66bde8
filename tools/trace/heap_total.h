/* SPDX-License-Identifier: MIT */
/*
 * heap_total.h - what the heap held after each block of it, in the order of the
 * file.  Not each of them says so ("Total Allocated"): where it doesn't, the
 * bytes of the blocks since the last one that did are added up.
 */
#ifndef TOOLS_HEAP_TOTAL_H
#define TOOLS_HEAP_TOTAL_H

#include "tools/trace/trace_reader.h"
#include "tools/util/numbers.h"

/* Zero at the start of a file. */
struct heap_total {
	int64_t bytes;
	bool is_known;
};

/* A "[memory]" of Device Type 0.  False: it isn't known yet. */
static inline bool heap_total_after(struct heap_total *total,
				    const struct trace_event *event)
{
	int64_t bytes = 0;

	if (trace_event_integer(event, "Total Allocated", &total->bytes))
		total->is_known = true;
	else if (trace_event_integer(event, "Bytes", &bytes))
		total->bytes = saturate_add(total->bytes, bytes);
	return total->is_known;
}

#endif
