/* SPDX-License-Identifier: MIT */
/* heap_diff.c - two runs beside each other; see heap_view.h. */
#include "tools/memory/heap_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"

/* One place by how it reads, since addresses differ between builds. */
struct diff_row {
	int64_t peak[2], bytes[2], calls[2];
};

static void add_side(struct key_table *table, struct heap_view *view, int side)
{
	for (size_t i = 0; i < view->rows->table.count; i++) {
		const struct heap_row *row =
			key_table_row(&view->rows->table, i);
		struct text_buffer text = {0};
		struct diff_row *to;
		char space[64];

		heap_space_name(view->log, row->space, space, sizeof(space));
		if (row->space)
			text_buffer_format(&text, "%s: ", space);
		heap_stack_text(view->log,
				heap_row_heaviest(row, HEAP_COST_PEAK)->stack,
				1, &text);
		to = key_table_row(
			table, key_table_number(table, text.data, text.len));
		to->peak[side] += row->cost[HEAP_COST_PEAK];
		to->bytes[side] += row->cost[HEAP_COST_BYTES];
		to->calls[side] += row->cost[HEAP_COST_CALLS];
		text_buffer_free(&text);
	}
}

static int64_t change(const struct diff_row *row)
{
	return row->peak[1] - row->peak[0];
}

static int by_change(const void *a, const void *b, void *arg)
{
	const size_t one = *(const size_t *)a, other = *(const size_t *)b;
	const int64_t x = llabs(change(key_table_row(arg, one)));
	const int64_t y = llabs(change(key_table_row(arg, other)));

	if (x != y)
		return x > y ? -1 : 1;
	return one < other ? -1 : 1;
}

static void cell_change(struct table *table, int64_t bytes)
{
	table_cell(table, "%s%s", bytes < 0 ? "-" : "+",
		   quantity_bytes((double)llabs(bytes)).text);
}

void heap_print_diff(struct heap_view *before, struct heap_view *after,
		     FILE *out)
{
	static const char *const headers[] = {"peak", "allocated", "calls",
					      "where"};
	struct key_table places = {.row_bytes = sizeof(struct diff_row)};
	struct table *table = heap_table_new(after, headers, 4);
	size_t *order, shown = 0;

	add_side(&places, before, 0);
	add_side(&places, after, 1);
	order = memory_zeroed(places.count + 1, sizeof(*order));
	for (size_t i = 0; i < places.count; i++)
		order[i] = i;
	qsort_r(order, places.count, sizeof(*order), by_change, &places);
	fprintf(out, "%s\nagainst %s\n\npeak: %s, before %s\n\n", after->file,
		before->file,
		quantity_bytes((double)after->account->sums[0].peak).text,
		quantity_bytes((double)before->account->sums[0].peak).text);
	for (size_t i = 0; i < places.count; i++) {
		const struct diff_row *row = key_table_row(&places, order[i]);

		if (!change(row) && row->bytes[0] == row->bytes[1] &&
		    row->calls[0] == row->calls[1])
			continue;
		if (after->top && shown++ == after->top)
			break;
		cell_change(table, change(row));
		cell_change(table, row->bytes[1] - row->bytes[0]);
		table_cell(table, "%+" PRId64, row->calls[1] - row->calls[0]);
		table_cell(table, "%s", key_table_key(&places, order[i], NULL));
	}
	table_print(table, out);
	free(order);
	key_table_free(&places);
}
