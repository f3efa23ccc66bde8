/* SPDX-License-Identifier: MIT */
/* heap_growth.c - slopes; see heap_growth.h. */
#include "tools/memory/heap_growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#define POINTS_MAX 240	/* more are thinned evenly: pairs are their square */
#define NORMAL	   3.29 /* of the normal distribution: 99.9 % */
#define LEAST	   1024 /* bytes in all: less is nobody's concern */

size_t heap_growth_warmup(size_t count)
{
	return count / 2;
}

static int by_value(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static double median(const double *values, size_t count)
{
	double *sorted = memory_zeroed(count, sizeof(*sorted));
	double middle;

	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	free(sorted);
	return middle;
}

static bool thirds_rise(const double *y, size_t count)
{
	const size_t third = count / 3;
	const double first = median(y, third);
	const double second = median(y + third, count - 2 * third);
	const double last = median(y + count - third, third);

	return first < second && second < last;
}

static void find_slope(struct heap_growth *growth, const double *x,
		       const double *y, size_t count)
{
	const double n = (double)count;
	const double pairs = n * (n - 1) / 2;
	double *slopes = memory_zeroed((size_t)pairs, sizeof(*slopes));
	const double spread = NORMAL * sqrt(n * (n - 1) * (2 * n + 5) / 18);
	size_t at = 0;
	double low, high;

	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			slopes[at++] = (y[j] - y[i]) / (x[j] - x[i]);
	qsort(slopes, at, sizeof(*slopes), by_value);
	low = floor((pairs - spread) / 2);
	high = ceil((pairs + spread) / 2);
	growth->slope = (slopes[(at - 1) / 2] + slopes[at / 2]) / 2;
	growth->low = slopes[low < 0 ? 0 : (size_t)low];
	growth->high = slopes[high >= (double)at ? at - 1 : (size_t)high];
	free(slopes);
}

struct heap_growth heap_growth_of(const int64_t *live, size_t count)
{
	const size_t first = heap_growth_warmup(count);
	const size_t left = count - first;
	const size_t kept = left < POINTS_MAX ? left : POINTS_MAX;
	struct heap_growth growth = {.is_known = left >= GROWTH_POINTS_MIN};
	double x[POINTS_MAX], y[POINTS_MAX];

	if (!growth.is_known)
		return growth;
	for (size_t i = 0; i < kept; i++) {
		const size_t at = first + i * (left - 1) / (kept - 1);

		x[i] = (double)at;
		y[i] = (double)live[at];
	}
	find_slope(&growth, x, y, kept);
	growth.grows = growth.low > 0 && thirds_rise(y, kept) &&
		       growth.slope * (double)left >= LEAST;
	return growth;
}

struct heap_growth heap_growth_site(const struct heap_account *account,
				    const struct heap_site *site)
{
	int64_t *live = memory_zeroed(account->points, sizeof(*live));
	struct heap_growth growth = {0};
	size_t next = 0;
	int64_t now = 0;

	for (size_t i = 0; i < account->points; i++) {
		while (next < site->point_count && site->points[next].step == i)
			now = site->points[next++].live;
		live[i] = now;
	}
	/* Most don't, and the slopes of many pairs take their time. */
	if (now > live[heap_growth_warmup(account->points)])
		growth = heap_growth_of(live, account->points);
	free(live);
	return growth;
}

struct heap_growth heap_growth_space(const struct heap_account *account,
				     uint32_t space)
{
	return heap_growth_of(account->sums[space].live_at, account->points);
}
