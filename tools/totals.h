/* SPDX-License-Identifier: MIT */
/*
 * totals.h - calls and time per category and name.
 */
#ifndef TOOLS_TOTALS_H
#define TOOLS_TOTALS_H

#include "tools/name_table.h"
#include "tools/text_buffer.h"

struct total {
	const char *category, *name; /* filled in by totals_list() */
	uint64_t calls;
	int64_t total_ns, min_ns, max_ns;
	uint64_t bytes;
};

struct totals {
	struct name_table keys; /* category, NUL, name */
	struct total *rows;
	size_t capacity;
	struct text_buffer key; /* scratch of totals_add() */
};

enum totals_order {
	ORDER_TOTAL,
	ORDER_CALLS,
	ORDER_AVERAGE,
	ORDER_MIN,
	ORDER_MAX,
	ORDER_NAME,
};

void totals_add(struct totals *totals, const char *category, const char *name,
		size_t name_len, int64_t dur_ns, uint64_t bytes);

/* The rows of one category, sorted, largest first (names: from a to z); free()
 * them.  *count may become 0. */
struct total *totals_list(const struct totals *totals, const char *category,
			  enum totals_order order, size_t *count);

/* Calls back once for each category, in order of first appearance. */
void totals_categories(const struct totals *totals,
		       void (*category)(void *arg, const char *name),
		       void *arg);

void totals_free(struct totals *totals);

#endif
