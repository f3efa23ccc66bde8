/* SPDX-License-Identifier: MIT */
/*
 * heap_branches.h - the ways by which one place was come to: its stacks, put
 * together where they read alike, and what each way has of a cost.
 */
#ifndef TOOLS_HEAP_BRANCHES_H
#define TOOLS_HEAP_BRANCHES_H

#include "tools/memory/heap_rows.h"

struct heap_branch {
	int64_t amount, blocks;
	size_t stacks;
};

struct heap_branches {
	struct key_table table; /* by heap_stack_text(); struct heap_branch */
	size_t *order;		/* the most expensive first */
};

/* Of so many frames. */
void heap_branches_make(struct heap_branches *branches, struct heap_log *log,
			const struct heap_row *row, enum heap_cost cost,
			size_t frames);
void heap_branches_free(struct heap_branches *branches);

static inline const struct heap_branch *
heap_branches_at(const struct heap_branches *branches, size_t place)
{
	return key_table_row(&branches->table, branches->order[place]);
}

static inline const char *
heap_branches_text(const struct heap_branches *branches, size_t place)
{
	return key_table_key(&branches->table, branches->order[place], NULL);
}

#endif
