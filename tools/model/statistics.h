/* SPDX-License-Identifier: MIT */
/*
 * statistics.h - do two series of times differ, or is it noise?
 *
 * Steps of one run are no independent draws: a run drifts, and slow steps come
 * in rows.  And what makes a whole run slower, where its memory lies, who else
 * is on the machine, is the same for all its steps, so that no number of them
 * tells it from a change.  So two things have to agree before a difference is
 * called one.  The Mann-Whitney test over the steps, its variance widened by
 * what neighbours have in common (lag-1 correlation of the ranks).  And a shift
 * larger than what equal runs may differ by:
 *
 *	enough runs on the two sides, six in all: measured, by Student's t over
 *	the medians of the runs;
 *	else the largest of 2 %; one standard deviation of the steps (by the
 *	quartiles); the range of the medians of a run's quarters and a quarter
 *	more; and the share of a run in which it found no processor free, or
 *	that other programs had of all processors.
 */
#ifndef TOOLS_STATISTICS_H
#define TOOLS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Values in the order of time, and where they come from. */
struct series {
	const double *values;
	const unsigned int *runs; /* of each value, NULL: one run */
	size_t count;
	double disturbed; /* of a value: what others on the machine may have
			     made it longer */
	double waited; /* of that, what they waited for a processor: of several
			  runs, too, since the machine may have been busier
			  while one side ran */
};

struct comparison {
	double median_a, median_b;
	double shift;	  /* Hodges-Lehmann: median of all differences b - a */
	double low, high; /* its interval of 95 % */
	double noise;	  /* what equal runs may differ by */
	double p;	  /* Mann-Whitney, two-sided; 1 with too few values */
	double wider;	  /* factor of the variance, by what neighbours share */
};

/* wider: known from the whole that these are parts of; 1 otherwise. */
struct comparison statistics_compare(struct series a, struct series b,
				     double wider);

/* Is it more than noise, at so many percent (0.05)? */
bool statistics_differ(const struct comparison *comparison, double alpha);

double statistics_median(const double *values, size_t count);

/* Between two values what lies between them; share from 0 to 1. */
double statistics_quantile(const double *values, size_t count, double share);

/* Growth per value, by Theil and Sen, 0 unless Mann and Kendall's test finds a
 * trend at 95 %.  The first fifth is warm-up and left out. */
double statistics_trend(const double *values, size_t count);

#endif
