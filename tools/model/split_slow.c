/* SPDX-License-Identifier: MIT */
/* split_slow.c - which steps are typical ones, and their sums. */
#include "tools/model/split.h"

#include <stdlib.h>

#include "tools/model/statistics.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

void split_add_up(struct split *split)
{
	for (size_t at = 0; at < split->count; at++) {
		if (split->steps[at].is_slow)
			continue;
		split->typical++;
		saturate_into(&split->total_ns, split->steps[at].dur_ns);
		saturate_into(&split->unseen_ns, split->steps[at].unseen_ns);
		for (unsigned int i = 0; i < SHARE_COUNT; i++)
			saturate_into(&split->ns[i], split->steps[at].ns[i]);
	}
}

/* Longer steps than this are no typical ones.  Where more than a quarter are,
 * as where batches come in bursts, they belong to what is typical. */
static double slow_from(const struct split *split, const double *durations)
{
	const double quartile =
		statistics_quantile(durations, split->count, 0.75);

	return SPLIT_SLOW * (quartile > SPLIT_SLOW * split->median_ns
				     ? quartile
				     : split->median_ns);
}

void split_find_slow(struct split *split)
{
	double *durations = memory_zeroed(split->count + 1, sizeof(double));
	double from;

	for (size_t at = 0; at < split->count; at++) {
		durations[at] = (double)split->steps[at].dur_ns;
		saturate_into(&split->all_ns, split->steps[at].dur_ns);
	}
	split->median_ns = statistics_quantile(durations, split->count, 0.5);
	split->p5_ns = statistics_quantile(durations, split->count, 0.05);
	split->p95_ns = statistics_quantile(durations, split->count, 0.95);
	from = slow_from(split, durations);
	for (size_t at = 0; at < split->count; at++)
		split->steps[at].is_slow =
			split->count >= SPLIT_STEPS_MIN && durations[at] > from;
	free(durations);
}

double split_between(const struct split *split)
{
	const struct split_step *last;
	double span;

	if (!split->has_steps || split->count < 2)
		return 0;
	last = &split->steps[split->count - 1];
	span = (double)last->start_ns + (double)last->dur_ns -
	       (double)split->steps[0].start_ns;
	return span > 0 ? 1 - (double)split->all_ns / span : 0;
}
