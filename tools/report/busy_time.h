/* SPDX-License-Identifier: MIT */
/*
 * busy_time.h - how long at least one of many overlapping spans ran.
 *
 * Spans come nearly in order.  The latest ones are kept as a sorted list of
 * disjoint intervals; what falls off its old end is summed up and closed, so
 * memory is bounded and only a span that comes BUSY_KEPT intervals too late is
 * counted short.
 */
#ifndef TOOLS_BUSY_TIME_H
#define TOOLS_BUSY_TIME_H

#include <stddef.h>
#include <stdint.h>

#define BUSY_KEPT 8192u

struct busy_span {
	int64_t start_ns, end_ns;
};

struct busy_time {
	struct busy_span *spans; /* disjoint, rising, at most BUSY_KEPT */
	size_t count;
	int64_t closed_ns;  /* sum of those that fell off */
	int64_t horizon_ns; /* nothing before this counts any more */
};

void busy_time_add(struct busy_time *busy, int64_t start_ns, int64_t end_ns);
int64_t busy_time_sum(const struct busy_time *busy);
void busy_time_free(struct busy_time *busy);

#endif
