/* SPDX-License-Identifier: MIT */
/* heap_branches.c - one place's stacks by what they read; see
 * heap_branches.h. */
#include "tools/memory/heap_branches.h"

#include <stdlib.h>

#include "tools/util/memory.h"

static int64_t blocks_of(const struct heap_site *site, enum heap_cost cost)
{
	switch (cost) {
	case HEAP_COST_PEAK: return site->peak_blocks;
	case HEAP_COST_LIVE: return site->live_blocks;
	default: return site->calls;
	}
}

static int by_amount(const void *a, const void *b, void *arg)
{
	const size_t one = *(const size_t *)a, other = *(const size_t *)b;
	const struct heap_branch *left = key_table_row(arg, one);
	const struct heap_branch *right = key_table_row(arg, other);

	if (left->amount != right->amount)
		return left->amount > right->amount ? -1 : 1;
	return one < other ? -1 : 1;
}

void heap_branches_make(struct heap_branches *branches, struct heap_log *log,
			const struct heap_row *row, enum heap_cost cost,
			size_t frames)
{
	*branches = (struct heap_branches){.table.row_bytes =
						   sizeof(struct heap_branch)};
	for (size_t i = 0; i < row->stacks; i++) {
		const struct heap_row_site *one = &row->sites[i];
		const int64_t amount = heap_row_site_cost(one, cost);
		struct text_buffer text = {0};
		struct heap_branch *to;

		if (amount <= 0)
			continue;
		heap_stack_text(log, one->site->stack, frames, &text);
		to = key_table_row(&branches->table,
				   key_table_number(&branches->table, text.data,
						    text.len));
		to->amount += amount;
		to->blocks += blocks_of(one->site, cost);
		to->stacks++;
		text_buffer_free(&text);
	}
	branches->order =
		memory_zeroed(branches->table.count + 1, sizeof(size_t));
	for (size_t i = 0; i < branches->table.count; i++)
		branches->order[i] = i;
	qsort_r(branches->order, branches->table.count, sizeof(size_t),
		by_amount, &branches->table);
}

void heap_branches_free(struct heap_branches *branches)
{
	key_table_free(&branches->table);
	free(branches->order);
}
