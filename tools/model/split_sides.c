/* SPDX-License-Identifier: MIT */
/* split_sides.c - steps with calls of Python, and those without. */
#include "tools/model/split.h"

#include <stdlib.h>
#include <string.h>

#include "tools/model/statistics.h"
#include "tools/util/memory.h"

/* Where steps with calls take so many times as long as those without, they are
 * no steps of one kind: as between typical steps and slow ones. */
#define SIDES_APART SPLIT_SLOW
/* Those without are the program's own, if they are a quarter of all. */
#define OTHERS_MAX  3

static double median_of(const struct split_step *steps, size_t count)
{
	double *durations = memory_zeroed(count + 1, sizeof(*durations));
	double median;

	for (size_t at = 0; at < count; at++)
		durations[at] = (double)steps[at].dur_ns;
	median = statistics_quantile(durations, count, 0.5);
	free(durations);
	return median;
}

void split_choose_side(struct split *split, int64_t python_until_ns)
{
	size_t before = 0, after;

	split->sides_ns = -1;
	if (python_until_ns < 0 || !split->has_steps)
		return;
	while (before < split->count &&
	       split->steps[before].start_ns < python_until_ns)
		before++;
	after = split->count - before;
	if (!before || !after || split->count < SPLIT_STEPS_MIN)
		return;
	split->side_median_ns[0] = median_of(split->steps, before);
	split->side_median_ns[1] = median_of(&split->steps[before], after);
	if (split->side_median_ns[0] < SIDES_APART * split->side_median_ns[1]) {
		split->sides_ns = python_until_ns;
		return;
	}
	split->is_after = OTHERS_MAX * after >= before;
	split->left_out = split->is_after ? before : after;
	split->count -= split->left_out;
	if (split->is_after)
		memmove(split->steps, &split->steps[before],
			after * sizeof(*split->steps));
}

double split_median_at(const struct split *split, size_t step)
{
	if (split->sides_ns < 0)
		return split->median_ns;
	return split->side_median_ns[split->steps[step].start_ns >=
				     split->sides_ns];
}
