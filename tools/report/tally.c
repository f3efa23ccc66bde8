/* SPDX-License-Identifier: MIT */
/*
 * tally.c - calls and time per category and name.
 */
#include "tools/report/tally.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

struct tally_nest {
	struct nested_call {
		int64_t start_ns, end_ns, sum_ns;
	} * calls; /* that nothing has enclosed yet, by end */
	size_t count, capacity;
};

static uint32_t row_of(struct tally *tally, const char *category,
		       const char *name, size_t name_len)
{
	struct text_buffer *key = &tally->key;

	text_buffer_cut(key, 0);
	text_buffer_add(key, category, strlen(category) + 1);
	text_buffer_add(key, name, name_len);
	tally->rows.row_bytes = sizeof(struct total);
	return key_table_number(&tally->rows, key->data, key->len);
}

/* Welford's way, which doesn't lose a small deviation of large times. */
static void add_call(struct total *row, int64_t dur_ns)
{
	const double distance = (double)dur_ns - row->mean_ns;

	if (!row->histogram)
		row->histogram = memory_zeroed(1, sizeof(*row->histogram));
	histogram_add(row->histogram, dur_ns);
	row->counted++;
	row->mean_ns += distance / (double)row->counted;
	row->square_ns += distance * ((double)dur_ns - row->mean_ns);
}

double total_deviation_ns(const struct total *row)
{
	return row->counted > 1 ? sqrt(row->square_ns / (double)row->counted)
				: 0;
}

int64_t total_quantile_ns(const struct total *row, double share)
{
	int64_t value;

	if (!row->histogram)
		return 0;
	value = histogram_quantile(row->histogram, row->counted, share);
	if (value < row->min_ns)
		return row->min_ns;
	return value > row->max_ns ? row->max_ns : value;
}

static void add_sums(struct total *row, const struct total *sums)
{
	if (!row->calls || sums->min_ns < row->min_ns)
		row->min_ns = sums->min_ns;
	if (!row->calls || sums->max_ns > row->max_ns)
		row->max_ns = sums->max_ns;
	saturate_into(&row->calls, sums->calls);
	saturate_into(&row->total_ns, sums->total_ns);
	saturate_into(&row->sum_ns, sums->sum_ns);
	saturate_into(&row->bytes, sums->bytes);
}

void tally_put(struct tally *tally, const char *category, const char *name,
	       size_t name_len, const struct total *sums)
{
	const uint32_t row = row_of(tally, category, name, name_len);

	add_sums(key_table_row(&tally->rows, row), sums);
}

struct total *tally_find(const struct tally *tally, const char *category,
			 const char *name)
{
	const size_t len = strlen(category) + 1;

	for (size_t at = 0; at < tally->rows.count; at++) {
		const char *key = key_table_key(&tally->rows, at, NULL);

		if (!strcmp(key, category) && !strcmp(key + len, name))
			return key_table_row(&tally->rows, at);
	}
	return NULL;
}

/* Joins calls of the older half that lie near each other, so that what begins
 * between two of them, seldom, is counted wrong by a few percent. */
static void join_oldest(struct tally_nest *nest)
{
	struct nested_call *calls = nest->calls;
	const size_t half = nest->count / 2;
	const int64_t near_ns =
		saturate_subtract(calls[half - 1].end_ns, calls[0].start_ns) /
		(TALLY_KEPT / 8);
	size_t kept = 0;

	for (size_t at = 1; at < half; at++) {
		if (saturate_subtract(calls[at].end_ns, calls[kept].start_ns) <=
		    near_ns) {
			calls[kept].end_ns = calls[at].end_ns;
			saturate_into(&calls[kept].sum_ns, calls[at].sum_ns);
		} else {
			calls[++kept] = calls[at];
		}
	}
	memmove(calls + kept + 1, calls + half,
		(nest->count - half) * sizeof(*calls));
	nest->count -= half - kept - 1;
}

/* The time of a call without that of calls inside it that are in the sum
 * already; 0 when it lies in one itself.  Inner calls come before outer ones in
 * our files, after them in others; ranges on a GPU come in no order. */
static int64_t own_time(struct tally_nest *nest, const struct tally_call *call)
{
	struct nested_call outer = {
		call->start_ns, call->start_ns + call->dur_ns, call->dur_ns};
	int64_t own_ns = call->dur_ns;
	size_t end, first;

	if (nest->count == TALLY_KEPT) {
		join_oldest(nest);
		if (nest->count == TALLY_KEPT) /* far from each other */
			nest->count /= 2;
	}
	for (end = nest->count; end; end--)
		if (nest->calls[end - 1].end_ns <= outer.end_ns)
			break;
	if (end < nest->count && nest->calls[end].start_ns <= outer.start_ns)
		return 0;
	for (first = end; first; first--) {
		const struct nested_call *last = &nest->calls[first - 1];

		if (last->start_ns <= outer.start_ns &&
		    last->end_ns == outer.end_ns)
			return 0;
		if (last->start_ns < outer.start_ns)
			break;
		own_ns = saturate_subtract(own_ns, last->sum_ns);
	}
	nest->calls = memory_grow(nest->calls, nest->count, &nest->capacity,
				  sizeof(*nest->calls));
	memmove(nest->calls + first + 1, nest->calls + end,
		(nest->count - end) * sizeof(outer));
	nest->calls[first] = outer;
	nest->count -= end - first;
	nest->count++;
	return own_ns > 0 ? own_ns : 0;
}

uint32_t tally_add(struct tally *tally, const char *category, const char *name,
		   size_t name_len, struct tally_call call)
{
	const uint32_t row = row_of(tally, category, name, name_len);
	const uint32_t key[2] = {row, call.lane};
	struct total sums = {
		.calls = 1,
		.sum_ns = call.dur_ns,
		.min_ns = call.dur_ns,
		.max_ns = call.dur_ns,
		.bytes = call.bytes,
	};
	uint32_t nest;

	tally->nests.row_bytes = sizeof(struct tally_nest);
	nest = key_table_number(&tally->nests, key, sizeof(key));
	sums.total_ns = own_time(key_table_row(&tally->nests, nest), &call);
	add_sums(key_table_row(&tally->rows, row), &sums);
	add_call(key_table_row(&tally->rows, row), call.dur_ns);
	return row;
}

static double rank_of(const struct total *row, enum tally_order order)
{
	switch (order) {
	case ORDER_CALLS: return (double)row->calls;
	case ORDER_AVERAGE: return (double)row->sum_ns / (double)row->calls;
	case ORDER_SELF: return (double)row->self_ns;
	case ORDER_MEDIAN: return (double)total_quantile_ns(row, 0.5);
	case ORDER_P95: return (double)total_quantile_ns(row, 0.95);
	case ORDER_P99: return (double)total_quantile_ns(row, 0.99);
	case ORDER_DEVIATION: return total_deviation_ns(row);
	case ORDER_GPU: return (double)row->gpu_ns;
	case ORDER_GPU_SELF: return (double)row->gpu_self_ns;
	case ORDER_MIN: return (double)row->min_ns;
	case ORDER_MAX: return (double)row->max_ns;
	case ORDER_TOTAL:
	case ORDER_NAME: break;
	}
	return (double)row->total_ns;
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct total *a = left, *b = right;
	const enum tally_order order = *(enum tally_order *)arg;
	const double x = rank_of(a, order), y = rank_of(b, order);

	if (order != ORDER_NAME && x != y)
		return x > y ? -1 : 1;
	if (order != ORDER_NAME && a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct total *tally_list(const struct tally *tally, const char *category,
			 enum tally_order order, size_t *count)
{
	struct total *list = memory_zeroed(tally->rows.count, sizeof(*list));

	*count = 0;
	for (size_t at = 0; at < tally->rows.count; at++) {
		const struct total *row = key_table_row(&tally->rows, at);
		const char *key = key_table_key(&tally->rows, at, NULL);

		if (strcmp(key, category))
			continue;
		list[*count] = *row;
		list[*count].category = key;
		list[*count].name = key + strlen(key) + 1;
		++*count;
	}
	qsort_r(list, *count, sizeof(*list), compare, &order);
	return list;
}

void tally_categories(const struct tally *tally,
		      void (*category)(void *arg, const char *name), void *arg)
{
	/* The order in which people ask; all others come after these. */
	static const char *const first[] = {
		"user_annotation",
		"cpu_op",
		"openmp waits",
		"python_function",
		"cuda_runtime",
		"cuda_driver",
		"kernel",
		"gpu_memcpy",
		"gpu_memset",
		"cuda_sync",
		"gpu_user_annotation",
	};
	const size_t first_count = sizeof(first) / sizeof(first[0]);
	struct key_table seen = {.row_bytes = sizeof(bool)};

	for (size_t at = 0; at < first_count; at++)
		key_table_number(&seen, first[at], strlen(first[at]));
	for (size_t at = 0; at < tally->rows.count; at++) {
		const char *name = key_table_key(&tally->rows, at, NULL);
		const uint32_t number =
			key_table_number(&seen, name, strlen(name));

		*(bool *)key_table_row(&seen, number) = true;
	}
	for (size_t at = 0; at < seen.count; at++)
		if (*(bool *)key_table_row(&seen, at))
			category(arg, key_table_key(&seen, at, NULL));
	key_table_free(&seen);
}

void tally_free(struct tally *tally)
{
	for (size_t at = 0; at < tally->nests.count; at++) {
		struct tally_nest *nest = key_table_row(&tally->nests, at);

		free(nest->calls);
	}
	for (size_t at = 0; at < tally->rows.count; at++) {
		struct total *row = key_table_row(&tally->rows, at);

		if (row->histogram)
			histogram_free(row->histogram);
		free(row->histogram);
	}
	key_table_free(&tally->nests);
	key_table_free(&tally->rows);
	text_buffer_free(&tally->key);
}
