/* SPDX-License-Identifier: MIT */
/*
 * totals.c - calls and time per category and name.
 */
#include "tools/totals.h"

#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/saturate.h"

void totals_add(struct totals *totals, const char *category, const char *name,
		size_t name_len, int64_t dur_ns, uint64_t bytes)
{
	struct text_buffer *key = &totals->key;
	const size_t before = totals->keys.count;
	struct total *row;
	uint32_t number;

	text_buffer_cut(key, 0);
	text_buffer_add(key, category, strlen(category) + 1);
	text_buffer_add(key, name, name_len);
	number = name_table_number(&totals->keys, key->data, key->len);
	totals->rows = memory_grow(totals->rows, number, &totals->capacity,
				   sizeof(*totals->rows));
	row = &totals->rows[number];
	if (number == before)
		*row = (struct total){.min_ns = dur_ns, .max_ns = dur_ns};
	row->calls++;
	saturate_into(&row->total_ns, dur_ns);
	row->bytes += bytes;
	if (dur_ns < row->min_ns)
		row->min_ns = dur_ns;
	if (dur_ns > row->max_ns)
		row->max_ns = dur_ns;
}

static double rank_of(const struct total *row, enum totals_order order)
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
	const enum totals_order order = *(enum totals_order *)arg;
	const double x = rank_of(a, order), y = rank_of(b, order);

	if (order != ORDER_NAME && x != y)
		return x > y ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct total *totals_list(const struct totals *totals, const char *category,
			  enum totals_order order, size_t *count)
{
	struct total *rows =
		memory_resize(NULL, totals->keys.count, sizeof(*rows));

	*count = 0;
	for (size_t at = 0; at < totals->keys.count; at++) {
		const char *key =
			name_table_text(&totals->keys, (uint32_t)at, NULL);

		if (strcmp(key, category))
			continue;
		rows[*count] = totals->rows[at];
		rows[*count].category = key;
		rows[*count].name = key + strlen(key) + 1;
		++*count;
	}
	qsort_r(rows, *count, sizeof(*rows), compare, &order);
	return rows;
}

void totals_categories(const struct totals *totals,
		       void (*category)(void *arg, const char *name), void *arg)
{
	struct name_table seen = {0};

	for (size_t at = 0; at < totals->keys.count; at++) {
		const char *name =
			name_table_text(&totals->keys, (uint32_t)at, NULL);
		const size_t before = seen.count;

		name_table_number(&seen, name, strlen(name));
		if (seen.count != before)
			category(arg, name);
	}
	name_table_free(&seen);
}

void totals_free(struct totals *totals)
{
	name_table_free(&totals->keys);
	free(totals->rows);
	text_buffer_free(&totals->key);
	memset(totals, 0, sizeof(*totals));
}
