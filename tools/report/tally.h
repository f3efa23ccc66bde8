/* SPDX-License-Identifier: MIT */
/*
 * tally.h - calls and time per category and name.
 */
#ifndef TOOLS_TALLY_H
#define TOOLS_TALLY_H

#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"

struct total {
	const char *category, *name; /* filled in by tally_list() */
	int64_t calls;
	int64_t total_ns, min_ns, max_ns;
	int64_t bytes;
};

struct tally {
	struct key_table rows;	/* struct total, by category, NUL, name */
	struct text_buffer key; /* scratch */
};

enum tally_order {
	ORDER_TOTAL,
	ORDER_CALLS,
	ORDER_AVERAGE,
	ORDER_MIN,
	ORDER_MAX,
	ORDER_NAME,
};

void tally_add(struct tally *tally, const char *category, const char *name,
	       size_t name_len, int64_t dur_ns, int64_t bytes);

/* The same with sums that somebody else has made. */
void tally_put(struct tally *tally, const char *category, const char *name,
	       size_t name_len, const struct total *sums);

/* The rows of one category, sorted, largest first (names: from a to z); free()
 * them.  *count may become 0. */
struct total *tally_list(const struct tally *tally, const char *category,
			 enum tally_order order, size_t *count);

/* Calls back once for each category: the host's, the GPU's, then the others. */
void tally_categories(const struct tally *tally,
		      void (*category)(void *arg, const char *name), void *arg);

void tally_free(struct tally *tally);

#endif
