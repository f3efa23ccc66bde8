/* SPDX-License-Identifier: MIT */
/*
 * tally.c - calls and time per category and name.
 */
#include "tools/report/tally.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/saturate.h"

void tally_put(struct tally *tally, const char *category, const char *name,
	       size_t name_len, const struct total *sums)
{
	struct text_buffer *key = &tally->key;
	const size_t before = tally->keys.count;
	struct total *row;
	uint32_t number;

	text_buffer_cut(key, 0);
	text_buffer_add(key, category, strlen(category) + 1);
	text_buffer_add(key, name, name_len);
	number = name_table_number(&tally->keys, key->data, key->len);
	tally->rows = memory_grow(tally->rows, number, &tally->capacity,
				  sizeof(*tally->rows));
	row = &tally->rows[number];
	if (number == before) {
		*row = *sums;
		return;
	}
	row->calls += sums->calls;
	saturate_into(&row->total_ns, sums->total_ns);
	row->bytes += sums->bytes;
	if (sums->min_ns < row->min_ns)
		row->min_ns = sums->min_ns;
	if (sums->max_ns > row->max_ns)
		row->max_ns = sums->max_ns;
}

void tally_add(struct tally *tally, const char *category, const char *name,
	       size_t name_len, int64_t dur_ns, uint64_t bytes)
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
	struct total *rows =
		memory_resize(NULL, tally->keys.count, sizeof(*rows));

	*count = 0;
	for (size_t at = 0; at < tally->keys.count; at++) {
		const char *key =
			name_table_text(&tally->keys, (uint32_t)at, NULL);

		if (strcmp(key, category))
			continue;
		rows[*count] = tally->rows[at];
		rows[*count].category = key;
		rows[*count].name = key + strlen(key) + 1;
		++*count;
	}
	qsort_r(rows, *count, sizeof(*rows), compare, &order);
	return rows;
}

/* The order in which people ask. */
static const char *const first_categories[] = {
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

#define FIRST_COUNT (sizeof(first_categories) / sizeof(first_categories[0]))

static bool is_first(const char *category)
{
	for (size_t at = 0; at < FIRST_COUNT; at++)
		if (!strcmp(category, first_categories[at]))
			return true;
	return false;
}

void tally_categories(const struct tally *tally,
		      void (*category)(void *arg, const char *name), void *arg)
{
	struct name_table seen = {0};

	for (size_t at = 0; at < tally->keys.count; at++) {
		const char *name =
			name_table_text(&tally->keys, (uint32_t)at, NULL);

		name_table_number(&seen, name, strlen(name));
	}
	for (size_t at = 0; at < FIRST_COUNT; at++)
		for (size_t have = 0; have < seen.count; have++)
			if (!strcmp(first_categories[at],
				    name_table_text(&seen, (uint32_t)have,
						    NULL)))
				category(arg, first_categories[at]);
	for (size_t at = 0; at < seen.count; at++) {
		const char *name = name_table_text(&seen, (uint32_t)at, NULL);

		if (!is_first(name))
			category(arg, name);
	}
	name_table_free(&seen);
}

void tally_free(struct tally *tally)
{
	name_table_free(&tally->keys);
	free(tally->rows);
	text_buffer_free(&tally->key);
	memset(tally, 0, sizeof(*tally));
}
