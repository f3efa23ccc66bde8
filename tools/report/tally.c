/* SPDX-License-Identifier: MIT */
/*
 * tally.c - calls and time per category and name.
 */
#include "tools/report/tally.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/saturate.h"

void tally_put(struct tally *tally, const char *category, const char *name,
	       size_t name_len, const struct total *sums)
{
	struct text_buffer *key = &tally->key;
	struct total *row;

	text_buffer_cut(key, 0);
	text_buffer_add(key, category, strlen(category) + 1);
	text_buffer_add(key, name, name_len);
	tally->rows.row_bytes = sizeof(*row);
	row = key_table_row(
		&tally->rows,
		key_table_number(&tally->rows, key->data, key->len));
	if (!row->calls || sums->min_ns < row->min_ns)
		row->min_ns = sums->min_ns;
	if (!row->calls || sums->max_ns > row->max_ns)
		row->max_ns = sums->max_ns;
	saturate_into(&row->calls, sums->calls);
	saturate_into(&row->total_ns, sums->total_ns);
	saturate_into(&row->bytes, sums->bytes);
}

void tally_add(struct tally *tally, const char *category, const char *name,
	       size_t name_len, int64_t dur_ns, int64_t bytes)
{
	const struct total sums = {
		.calls = 1,
		.total_ns = dur_ns,
		.min_ns = dur_ns,
		.max_ns = dur_ns,
		.bytes = bytes,
	};

	tally_put(tally, category, name, name_len, &sums);
}

static double rank_of(const struct total *row, enum tally_order order)
{
	switch (order) {
	case ORDER_CALLS: return (double)row->calls;
	case ORDER_AVERAGE: return (double)row->total_ns / (double)row->calls;
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

/* The order in which people ask; all others come after these. */
static size_t place_of(const char *category)
{
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
	size_t at = 0;

	while (at < sizeof(first) / sizeof(first[0]) &&
	       strcmp(first[at], category))
		at++;
	return at;
}

static int compare_places(const void *left, const void *right, void *arg)
{
	const struct key_table *seen = arg;
	const uint32_t a = *(const uint32_t *)left,
		       b = *(const uint32_t *)right;
	const size_t x = place_of(key_table_key(seen, a, NULL));
	const size_t y = place_of(key_table_key(seen, b, NULL));

	if (x != y)
		return x < y ? -1 : 1;
	return a < b ? -1 : a > b;
}

void tally_categories(const struct tally *tally,
		      void (*category)(void *arg, const char *name), void *arg)
{
	struct key_table seen = {0};
	uint32_t *sorted;

	for (size_t at = 0; at < tally->rows.count; at++) {
		const char *name = key_table_key(&tally->rows, at, NULL);

		key_table_number(&seen, name, strlen(name));
	}
	sorted = memory_zeroed(seen.count, sizeof(*sorted));
	for (uint32_t at = 0; at < seen.count; at++)
		sorted[at] = at;
	qsort_r(sorted, seen.count, sizeof(*sorted), compare_places, &seen);
	for (size_t at = 0; at < seen.count; at++)
		category(arg, key_table_key(&seen, sorted[at], NULL));
	free(sorted);
	key_table_free(&seen);
}

void tally_free(struct tally *tally)
{
	key_table_free(&tally->rows);
	text_buffer_free(&tally->key);
}
