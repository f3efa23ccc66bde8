/* SPDX-License-Identifier: MIT */
/*
 * statistics.c - rank statistics for series of step times.
 */
#include "tools/model/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* Pairs are counted among so many values of a series at most, taken evenly. */
#define PAIRS_OF_MAX	   1000
#define QUARTERS_OF_MIN	   8
#define TREND_OF_MIN	   8
#define NORMAL_95	   1.96
#define CORRELATION_MAX	   0.98
#define QUARTILES_OF_SIGMA 1.349
/* Equal runs of a quiet machine differed by as much (docs/verdict.md). */
#define EQUAL_RUNS	   0.02
/* From so many on the runs themselves tell what equal ones differ by. */
#define DEGREES_MIN	   4
#define QUARTERS	   1.25 /* of their range */

static int compare_values(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double *sorted(const double *values, size_t count)
{
	double *copy = memory_zeroed(count + 1, sizeof(*copy));

	memcpy(copy, values, count * sizeof(*copy));
	qsort(copy, count, sizeof(*copy), compare_values);
	return copy;
}

static double quantile(const double *values, size_t count, double share)
{
	const double place = share * (double)(count - 1);
	const size_t at = (size_t)place;

	if (at + 1 >= count)
		return values[count - 1];
	return values[at] +
	       (place - (double)at) * (values[at + 1] - values[at]);
}

double statistics_quantile(const double *values, size_t count, double share)
{
	double *copy, value;

	if (!count)
		return 0;
	copy = sorted(values, count);
	value = quantile(copy, count, share);
	free(copy);
	return value;
}

double statistics_median(const double *values, size_t count)
{
	return statistics_quantile(values, count, 0.5);
}

struct ranked {
	double value, rank;
	size_t place; /* in a, then b */
};

static int compare_ranked(const void *left, const void *right)
{
	return compare_values(&((const struct ranked *)left)->value,
			      &((const struct ranked *)right)->value);
}

/* The ranks of both series' values, by place, ties sharing theirs; and the sum
 * of t^3 - t over the ties. */
static double *rank_all(struct series a, struct series b, double *ties)
{
	const size_t count = a.count + b.count;
	struct ranked *all = memory_zeroed(count, sizeof(*all));
	double *ranks = memory_zeroed(count, sizeof(*ranks));

	for (size_t at = 0; at < count; at++)
		all[at] = (struct ranked){
			.value = at < a.count ? a.values[at]
					      : b.values[at - a.count],
			.place = at};
	qsort(all, count, sizeof(*all), compare_ranked);
	*ties = 0;
	for (size_t at = 0, end; at < count; at = end) {
		double equal;

		for (end = at; end < count && all[end].value == all[at].value;)
			end++;
		equal = (double)(end - at);
		*ties += equal * equal * equal - equal;
		for (size_t i = at; i < end; i++)
			ranks[all[i].place] = (double)(at + end + 1) / 2;
	}
	free(all);
	return ranks;
}

/* What neighbours in time have in common, from 0 to 1 and a little more. */
static double neighbours(const double *ranks, size_t count)
{
	double mean = 0, product = 0, square = 0;

	for (size_t at = 0; at < count; at++)
		mean += ranks[at] / (double)count;
	for (size_t at = 0; at < count; at++) {
		square += (ranks[at] - mean) * (ranks[at] - mean);
		if (at)
			product += (ranks[at] - mean) * (ranks[at - 1] - mean);
	}
	/* An estimate from few values is too small by so much (Kendall). */
	if (square <= 0 || product <= 0)
		return 0;
	return product / square + (1 + 4 * product / square) / (double)count;
}

/* By how much less a series tells than as many independent values. */
static double widening(double correlation)
{
	correlation = fmin(correlation, CORRELATION_MAX);
	return (1 + correlation) / (1 - correlation);
}

static double mann_whitney(struct series a, struct series b, double *wider)
{
	const double n = (double)a.count, m = (double)b.count, sum = n + m;
	double ties, rank_sum = 0, variance, distance;
	double *ranks = rank_all(a, b, &ties);

	for (size_t at = 0; at < a.count; at++)
		rank_sum += ranks[at];
	*wider = fmax(*wider, widening(neighbours(ranks, a.count)));
	*wider = fmax(*wider, widening(neighbours(ranks + a.count, b.count)));
	free(ranks);
	variance = n * m / 12 * (sum + 1 - ties / (sum * (sum - 1))) * *wider;
	distance = fabs(rank_sum - n * (n + 1) / 2 - n * m / 2) - 0.5;
	if (variance <= 0 || distance <= 0)
		return 1;
	return erfc(distance / sqrt(variance) / M_SQRT2);
}

/* Shift and interval from the differences of all pairs. */
static void shift(struct series a, struct series b, double wider,
		  struct comparison *result)
{
	const size_t n = a.count < PAIRS_OF_MAX ? a.count : PAIRS_OF_MAX;
	const size_t m = b.count < PAIRS_OF_MAX ? b.count : PAIRS_OF_MAX;
	const double half =
		NORMAL_95 * sqrt(wider * (double)(a.count + b.count + 1) /
				 (12.0 * (double)a.count * (double)b.count));
	double *from = sorted(a.values, a.count);
	double *to = sorted(b.values, b.count);
	double *pairs = memory_zeroed(n * m, sizeof(*pairs));

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			pairs[i * m + j] =
				to[j * b.count / m] - from[i * a.count / n];
	qsort(pairs, n * m, sizeof(*pairs), compare_values);
	result->shift = quantile(pairs, n * m, 0.5);
	result->low = quantile(pairs, n * m, fmax(0.5 - half, 0));
	result->high = quantile(pairs, n * m, fmin(0.5 + half, 1));
	free(pairs);
	free(from);
	free(to);
}

/* What equal parts of one run differ by: the range of its quarters' medians. */
static double within(const double *values, size_t count)
{
	double low = INFINITY, high = -INFINITY;

	if (count < QUARTERS_OF_MIN)
		return 0;
	for (size_t at = 0; at < 4; at++) {
		const size_t from = at * count / 4, to = (at + 1) * count / 4;
		const double median =
			statistics_median(values + from, to - from);

		low = fmin(low, median);
		high = fmax(high, median);
	}
	return high - low;
}

static double spread(struct series series)
{
	return (statistics_quantile(series.values, series.count, 0.75) -
		statistics_quantile(series.values, series.count, 0.25)) /
	       QUARTILES_OF_SIGMA;
}

/* The medians of a side's runs: how many, and their squares around the mean. */
struct medians {
	size_t runs;
	double squares, within;
};

static struct medians medians_of(struct series series)
{
	double *values = memory_zeroed(series.count + 1, sizeof(*values));
	struct medians medians = {0};
	double mean = 0;

	for (size_t left = series.count, run = 0; left; run++) {
		size_t count = 0;
		double median, from;

		for (size_t at = 0; at < series.count; at++)
			if (!series.runs || series.runs[at] == run)
				values[count++] = series.values[at];
		left -= count;
		if (!count)
			continue;
		median = statistics_median(values, count);
		medians.within = fmax(medians.within, within(values, count));
		from = median - mean;
		mean += from / (double)++medians.runs;
		medians.squares += from * (median - mean);
	}
	free(values);
	return medians;
}

/* Student's t at 95 %, two-sided, by degrees of freedom from DEGREES_MIN on. */
static double student(size_t degrees)
{
	return NORMAL_95 + 2.37 / (double)degrees +
	       2.82 / (double)(degrees * degrees);
}

/* By how much two equal runs may differ.  Where there are enough runs that is
 * measured; where there aren't it is what the steps of one differ by, and at
 * least EQUAL_RUNS. */
static double noise_of(struct series a, struct series b, double median)
{
	const struct medians from = medians_of(a), to = medians_of(b);
	const size_t degrees = from.runs + to.runs - 2;
	const double squares = from.squares + to.squares;
	double noise;

	if (degrees >= DEGREES_MIN) {
		noise = student(degrees) *
			sqrt(squares / (double)degrees *
			     (1 / (double)from.runs + 1 / (double)to.runs));
		return fmax(noise, fmax(a.waited, b.waited));
	}
	noise = QUARTERS * fmax(from.within, to.within);
	noise = fmax(noise, fmax(spread(a), spread(b)));
	if (degrees)
		noise = fmax(noise, 2 * sqrt(squares / (double)degrees));
	noise = fmax(noise, fmax(a.disturbed, b.disturbed));
	return fmax(noise, EQUAL_RUNS * median);
}

struct comparison statistics_compare(struct series a, struct series b,
				     double wider)
{
	struct comparison result = {
		.median_a = statistics_median(a.values, a.count),
		.median_b = statistics_median(b.values, b.count),
		.p = 1,
		.wider = fmax(wider, 1),
	};

	if (!a.count || !b.count)
		return result;
	result.p = mann_whitney(a, b, &result.wider);
	shift(a, b, result.wider, &result);
	result.noise = noise_of(a, b, result.median_a);
	return result;
}

bool statistics_differ(const struct comparison *comparison, double alpha)
{
	return comparison->p < alpha &&
	       fabs(comparison->shift) > comparison->noise;
}

double statistics_trend(const double *values, size_t count)
{
	const size_t warm_up = count / 5;
	double *slopes, sum = 0, variance, trend;
	size_t pairs = 0, every;

	values += warm_up;
	count -= warm_up;
	if (count < TREND_OF_MIN)
		return 0;
	every = count / PAIRS_OF_MAX + 1;
	count = (count + every - 1) / every;
	slopes = memory_zeroed(count * (count - 1) / 2, sizeof(*slopes));
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++) {
			const double rise =
				values[j * every] - values[i * every];

			sum += rise > 0 ? 1 : rise < 0 ? -1 : 0;
			slopes[pairs++] = rise / (double)((j - i) * every);
		}
	qsort(slopes, pairs, sizeof(*slopes), compare_values);
	trend = quantile(slopes, pairs, 0.5);
	free(slopes);
	variance = (double)count * (double)(count - 1) *
		   (double)(2 * count + 5) / 18;
	return (fabs(sum) - 1) / sqrt(variance) > NORMAL_95 ? trend : 0;
}
