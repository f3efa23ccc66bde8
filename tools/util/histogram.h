/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - percentiles of durations in little memory.
 *
 * Up to 64 ns a value is kept exactly; above, each power of two is divided into
 * 64 equal parts, so a percentile is wrong by 0.8 % at most.  Of the powers of
 * two only those that occur take room.
 */
#ifndef TOOLS_HISTOGRAM_H
#define TOOLS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_PARTS	  64u
#define HISTOGRAM_OCTAVES 58u

struct histogram {
	uint32_t *octaves[HISTOGRAM_OCTAVES]; /* NULL: nothing in it */
};

void histogram_add(struct histogram *histogram, int64_t value);

/* Of `count` values that were added; share from 0 to 1.  0 without any. */
int64_t histogram_quantile(const struct histogram *histogram, int64_t count,
			   double share);

void histogram_free(struct histogram *histogram);

#endif
