/* SPDX-License-Identifier: MIT */
/* heap_growth.c - slopes; see heap_growth.h. */
#include "tools/memory/heap_growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#define POINTS_MAX 240	/* more are thinned evenly: pairs are their square */
#define NORMAL	   3.29 /* of the normal distribution: 99.9 % */
#define RISE_LEAST 65536
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

static double most_of(const double *y, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, y[i]);
	return most;
}

/* What is filled and freed again comes back to where it was before, and a cache
 * that is full stays there: of the points behind the warm-up the last quarter
 * has to exceed all others, and the warm-up by more than a step changes. */
static bool most_rises(const double *y, size_t count, double before)
{
	const size_t rest = count - count / 4;
	const double last = most_of(y + rest, count - rest);
	double changes[POINTS_MAX] = {0};

	for (size_t i = 1; i < count; i++)
		changes[i - 1] = fabs(y[i] - y[i - 1]);
	return last > most_of(y, rest) &&
	       last - before > 2 * median(changes, count - 1);
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

/* Those after the warm-up; how many. */
static size_t choose(const bool *told, size_t count, size_t *chosen)
{
	size_t left = 0;

	for (size_t i = heap_growth_warmup(count); i < count; i++)
		if (!told || told[i])
			chosen[left++] = i;
	return left;
}

struct heap_growth heap_growth_of(const int64_t *live, const bool *told,
				  size_t count)
{
	size_t *chosen = memory_zeroed(count + 1, sizeof(*chosen));
	const size_t left = choose(told, count, chosen);
	const size_t kept = left < POINTS_MAX ? left : POINTS_MAX;
	struct heap_growth growth = {.is_known = left >= GROWTH_POINTS_MIN};
	double x[POINTS_MAX], y[POINTS_MAX], before = 0;

	for (size_t i = 0; i < heap_growth_warmup(count); i++)
		before = fmax(before, (double)live[i]);
	for (size_t i = 0; growth.is_known && i < kept; i++) {
		const size_t at = chosen[i * (left - 1) / (kept - 1)];

		x[i] = (double)at;
		y[i] = (double)live[at];
	}
	free(chosen);
	if (!growth.is_known)
		return growth;
	find_slope(&growth, x, y, kept);
	growth.grows =
		growth.low > 0 && thirds_rise(y, kept) &&
		most_rises(y, kept, before) &&
		growth.slope * (double)(count - heap_growth_warmup(count)) >=
			LEAST;
	return growth;
}

/* Samples of what is kept add up, and so do their errors: the interval that
 * steps give knows nothing of these.  A block of s bytes that is drawn with the
 * chance p adds s^2 (1 - p) / p to the square of the error, s times the mean at
 * most (of small blocks, and `bytes` 0), and the slope of a random walk has 1.1
 * times the error of its ends. */
static double sampling_error(const struct heap_account *account, uint32_t space,
			     double slope, double bytes)
{
	const double mean = (double)account->log->sample_bytes;
	const size_t first = heap_growth_warmup(account->points);
	const double left = (double)(account->points - first);
	double each = mean;

	if (mean <= 0 || slope <= 0 || account->log->spaces[space].type)
		return 0;
	if (bytes > 0)
		each = bytes / expm1(bytes / mean);
	return 1.1 * NORMAL * sqrt(slope * each / left);
}

static void widen(struct heap_growth *growth, double error)
{
	if (!growth->is_known || error <= 0)
		return;
	growth->low = growth->slope - hypot(growth->slope - growth->low, error);
	growth->high =
		growth->slope + hypot(growth->high - growth->slope, error);
	growth->grows = growth->grows && growth->low > 0;
}

double heap_growth_least(const struct heap_account *account)
{
	const size_t left =
		account->points - heap_growth_warmup(account->points);

	return 1.21 * NORMAL * NORMAL * (double)account->log->sample_bytes /
	       (double)left;
}

/* Where nothing changes there are no lines, either. */
static bool rose(const struct heap_account *account, uint32_t space)
{
	const struct heap_sum *sum = &account->sums[space];
	const size_t first = heap_growth_warmup(account->points);
	const int64_t before = sum->live_at[first];
	const int64_t least = before + before / 20 + RISE_LEAST;

	return sum->live > least ||
	       (sum->peak > least && sum->peak_ns > account->point_ns[first]);
}

/* Rows have no more to say of a point than the last before it; NULL where that
 * is all there is to say. */
static const bool *told_of(const struct heap_account *account, uint32_t space)
{
	return account->log->row_count && space == account->log->row_space &&
			       account->points && rose(account, space)
		       ? account->told
		       : NULL;
}

bool heap_growth_is_seldom(const struct heap_account *account, uint32_t space)
{
	const bool *told = told_of(account, space);
	size_t points = 0;

	if (!told)
		return false;
	for (size_t i = heap_growth_warmup(account->points);
	     i < account->points; i++)
		points += told[i];
	return points < GROWTH_POINTS_MIN &&
	       account->points - heap_growth_warmup(account->points) >=
		       GROWTH_POINTS_MIN;
}

struct heap_growth heap_growth_site(const struct heap_account *account,
				    const struct heap_site *site)
{
	int64_t *live = memory_zeroed(account->points, sizeof(*live));
	struct heap_growth growth = {0};
	size_t next = 0;
	int64_t now = 0, most = 0;

	for (size_t i = 0; i < account->points; i++) {
		while (next < site->point_count && site->points[next].step == i)
			now = site->points[next++].live;
		live[i] = now;
		if (i >= heap_growth_warmup(account->points) && now > most)
			most = now;
	}
	/* Most don't, and the slopes of many pairs take their time.  What is
	 * freed as the program ends, as C++, Rust and Python do, grew before:
	 * so the last point alone doesn't tell. */
	if (most > live[heap_growth_warmup(account->points)])
		growth = heap_growth_of(live, told_of(account, site->space),
					account->points);
	widen(&growth,
	      sampling_error(account, site->space, growth.slope,
			     (double)site->bytes / (double)site->calls));
	free(live);
	return growth;
}

struct heap_growth heap_growth_space(const struct heap_account *account,
				     uint32_t space)
{
	struct heap_growth growth =
		heap_growth_of(account->sums[space].live_at,
			       told_of(account, space), account->points);

	widen(&growth, sampling_error(account, space, growth.slope, 0));
	return growth;
}
