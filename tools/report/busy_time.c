/* SPDX-License-Identifier: MIT */
/*
 * busy_time.c - the union of spans.
 */
#include "tools/report/busy_time.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

static void close_oldest(struct busy_time *busy, size_t count)
{
	for (size_t at = 0; at < count; at++) {
		saturate_into(&busy->closed_ns,
			      saturate_subtract(busy->spans[at].end_ns,
						busy->spans[at].start_ns));
		busy->horizon_ns = busy->spans[at].end_ns;
	}
	busy->count -= count;
	memmove(busy->spans, busy->spans + count,
		busy->count * sizeof(*busy->spans));
}

void busy_time_add(struct busy_time *busy, int64_t start_ns, int64_t end_ns)
{
	size_t first, last;

	if (!busy->spans) {
		busy->spans = memory_zeroed(BUSY_KEPT, sizeof(*busy->spans));
		busy->horizon_ns = INT64_MIN;
	}
	if (start_ns < busy->horizon_ns)
		start_ns = busy->horizon_ns;
	if (end_ns <= start_ns)
		return;
	if (busy->count == BUSY_KEPT)
		close_oldest(busy, BUSY_KEPT / 2);
	if (start_ns < busy->horizon_ns)
		start_ns = busy->horizon_ns;
	if (end_ns <= start_ns)
		return;
	/* Everything in [first, last) touches the new span and joins it. */
	last = busy->count;
	while (last && busy->spans[last - 1].start_ns > end_ns)
		last--;
	first = last;
	while (first && busy->spans[first - 1].end_ns >= start_ns) {
		first--;
		if (busy->spans[first].start_ns < start_ns)
			start_ns = busy->spans[first].start_ns;
		if (busy->spans[first].end_ns > end_ns)
			end_ns = busy->spans[first].end_ns;
	}
	memmove(busy->spans + first + 1, busy->spans + last,
		(busy->count - last) * sizeof(*busy->spans));
	busy->spans[first] = (struct busy_span){start_ns, end_ns};
	busy->count = busy->count - (last - first) + 1;
}

int64_t busy_time_sum(const struct busy_time *busy)
{
	int64_t sum = busy->closed_ns;

	for (size_t at = 0; at < busy->count; at++)
		saturate_into(&sum,
			      saturate_subtract(busy->spans[at].end_ns,
						busy->spans[at].start_ns));
	return sum;
}

void busy_time_free(struct busy_time *busy)
{
	free(busy->spans);
	memset(busy, 0, sizeof(*busy));
}
