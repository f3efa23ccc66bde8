/* SPDX-License-Identifier: MIT */
/*
 * heap_growth.h - does what is live grow from step to step, and by how much?
 *
 * The first half of the steps is warm-up and left out.  The slope of the rest
 * is Theil and Sen's, the median of the slopes between all pairs, so that a few
 * strange steps don't matter; its interval holds the true one in 999 of 1000
 * cases.  It counts as growth only where the interval lies above zero and each
 * third of the steps holds more than the one before, by their medians: noise
 * doesn't, nor does a cache that has become full.  Of samples the interval
 * holds their error, too.
 */
#ifndef TOOLS_HEAP_GROWTH_H
#define TOOLS_HEAP_GROWTH_H

#include "tools/memory/heap_account.h"

#define GROWTH_POINTS_MIN 9 /* after the warm-up */

struct heap_growth {
	bool is_known; /* there are enough points */
	bool grows;
	double slope, low, high; /* bytes for each point */
};

/* Of a series; where `told` isn't NULL, by those points of it alone. */
struct heap_growth heap_growth_of(const int64_t *live, const bool *told,
				  size_t count);

/* The points that are left out. */
size_t heap_growth_warmup(size_t count);

/* Of samples: growth of small blocks that is less than this can't be told from
 * their noise. */
double heap_growth_least(const struct heap_account *account);

/* TRACEPROF_MALLOC=sites: more is live than was after the warm-up, and too few
 * lines say when. */
bool heap_growth_is_seldom(const struct heap_account *account, uint32_t space);

/* Of one site, or of a memory. */
struct heap_growth heap_growth_site(const struct heap_account *account,
				    const struct heap_site *site);
struct heap_growth heap_growth_space(const struct heap_account *account,
				     uint32_t space);

#endif
