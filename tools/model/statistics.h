/* SPDX-License-Identifier: MIT */
/*
 * statistics.h - do two series of times differ, or is it noise?
 *
 * Steps of one run are no independent draws: a run drifts, and slow steps come
 * in rows.  So three things have to agree before a difference is called one:
 * the Mann-Whitney test, its variance widened by what neighbours have in common
 * (lag-1 correlation of the ranks); and a shift larger than what the two halves
 * of either series, or the files of one side, differ by among themselves.
 */
#ifndef TOOLS_STATISTICS_H
#define TOOLS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Values in the order of time, and where they come from. */
struct series {
	const double *values;
	const unsigned int *files; /* of each value, NULL: one file */
	size_t count;
};

struct comparison {
	double median_a, median_b;
	double shift;	  /* Hodges-Lehmann: median of all differences b - a */
	double low, high; /* its interval of 95 % */
	double noise;	  /* what equal things differ by */
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
