/* SPDX-License-Identifier: MIT */
/*
 * report_ranks.c - files side by side: a column for each, or where they are
 * many the least, the middle and the most of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/statistics.h"
#include "tools/report/report.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"

#define COLUMNS_MAX 5u
#define NAMES_MAX   8u

struct rank {
	char *label;
	double median_ns, total_ns;
	double ns[SHARE_COUNT];
	struct key_table names; /* double: total, by name */
};

struct report_ranks {
	struct rank *ranks;
	size_t count, capacity;
};

struct report_ranks *report_ranks_new(void)
{
	return memory_zeroed(1, sizeof(struct report_ranks));
}

/* What tells files apart is behind the last slash, before their time. */
static char *label_of(const struct report *report)
{
	const char *slash = strrchr(report->file, '/');
	const char *name = slash ? slash + 1 : report->file;
	const char *rank = strstr(name, "_rank");

	if (rank)
		return strndup(rank + 1, strcspn(rank + 1, "_."));
	return strndup(name, strcspn(name, "."));
}

void report_ranks_add(struct report_ranks *ranks, const struct report *report)
{
	const struct split *split = &report->judged.facts.split;
	struct rank *rank;

	ranks->ranks = memory_grow(ranks->ranks, ranks->count, &ranks->capacity,
				   sizeof(*ranks->ranks));
	rank = &ranks->ranks[ranks->count++];
	*rank = (struct rank){.label = label_of(report),
			      .median_ns = split->median_ns,
			      .total_ns = (double)split->total_ns,
			      .names = {.row_bytes = sizeof(double)}};
	for (unsigned int at = 0; at < SHARE_COUNT; at++)
		rank->ns[at] = (double)split->ns[at];
	for (size_t at = 0; at < report->tally.rows.count; at++) {
		const struct total *row =
			key_table_row(&report->tally.rows, at);
		size_t len;
		const char *key = key_table_key(&report->tally.rows, at, &len);

		*(double *)key_table_row(
			&rank->names,
			key_table_number(&rank->names, key, len)) =
			(double)row->total_ns;
	}
}

/* A row: each rank's value, or least, middle and most. */
static void put_row(struct table *table, const struct report_ranks *ranks,
		    const double *values, bool is_share, const char *title)
{
	double shown[COLUMNS_MAX];
	size_t count = ranks->count;

	if (count <= COLUMNS_MAX) {
		memcpy(shown, values, count * sizeof(*values));
	} else {
		count = 3;
		shown[0] = statistics_quantile(values, ranks->count, 0);
		shown[1] = statistics_quantile(values, ranks->count, 0.5);
		shown[2] = statistics_quantile(values, ranks->count, 1);
	}
	for (size_t at = 0; at < count; at++) {
		if (is_share)
			table_cell(table, "%.1f %%", 100 * shown[at]);
		else
			table_cell(table, "%s", quantity_time(shown[at]).text);
	}
	table_cell(table, "%s", title);
}

struct sum {
	const char *key;
	size_t len;
	double ns;
};

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* The names that take most in all files together. */
static struct sum *sum_names(const struct report_ranks *ranks, size_t *count)
{
	struct key_table all = {.row_bytes = sizeof(double)};
	struct sum *sums;

	for (size_t rank = 0; rank < ranks->count; rank++) {
		const struct key_table *names = &ranks->ranks[rank].names;

		for (size_t at = 0; at < names->count; at++) {
			size_t len;
			const char *key = key_table_key(names, at, &len);
			double *ns = key_table_row(
				&all, key_table_number(&all, key, len));

			*ns += *(double *)key_table_row(names, at);
		}
	}
	sums = memory_zeroed(all.count + 1, sizeof(*sums));
	*count = all.count;
	for (size_t at = 0; at < all.count; at++) {
		size_t len;
		const char *key = key_table_key(&all, at, &len);
		char *copy = memory_zeroed(len + 1, 1);

		memcpy(copy, key, len);
		sums[at] = (struct sum){copy, len,
					*(double *)key_table_row(&all, at)};
	}
	key_table_free(&all);
	qsort(sums, *count, sizeof(*sums), compare_sums);
	return sums;
}

static void put_names(struct table *table, const struct report_ranks *ranks,
		      size_t top, double *values)
{
	size_t count;
	struct sum *sums = sum_names(ranks, &count);

	for (size_t at = 0; at < count; at++) {
		const char *name = sums[at].key + strlen(sums[at].key) + 1;

		for (size_t rank = 0; rank < ranks->count; rank++) {
			const double *ns =
				key_table_find(&ranks->ranks[rank].names,
					       sums[at].key, sums[at].len);

			values[rank] = ns ? *ns : 0;
		}
		if (at < top)
			put_row(table, ranks, values, false, name);
		free((char *)sums[at].key);
	}
	free(sums);
}

void report_ranks_print(const struct report_ranks *ranks,
			const struct report_choice *choice, FILE *out)
{
	static const char *const spread[] = {"least", "middle", "most", ""};
	double *values = memory_zeroed(ranks->count + 1, sizeof(*values));
	const char *headers[COLUMNS_MAX + 1];
	size_t columns = ranks->count;
	struct table *table;

	if (columns > COLUMNS_MAX)
		columns = 3;
	for (size_t at = 0; at < columns; at++)
		headers[at] = ranks->count > COLUMNS_MAX
				      ? spread[at]
				      : ranks->ranks[at].label;
	headers[columns] = "side by side";
	table = table_new(TABLE_NUMBERS, headers, columns + 1);
	for (size_t at = 0; at < ranks->count; at++)
		values[at] = ranks->ranks[at].median_ns;
	put_row(table, ranks, values, false, "step, median");
	for (unsigned int share = 0; share < SHARE_COUNT; share++) {
		bool any = false;

		for (size_t at = 0; at < ranks->count; at++) {
			const struct rank *rank = &ranks->ranks[at];

			values[at] = rank->total_ns > 0
					     ? rank->ns[share] / rank->total_ns
					     : 0;
			any |= values[at] >= 0.0005;
		}
		if (any)
			put_row(table, ranks, values, true,
				split_share_text((enum share)share));
	}
	put_names(table, ranks,
		  choice->top && choice->top < NAMES_MAX ? choice->top
							 : NAMES_MAX,
		  values);
	fputc('\n', out);
	table_print(table, out);
	free(values);
}

void report_ranks_free(struct report_ranks *ranks)
{
	for (size_t at = 0; at < ranks->count; at++) {
		free(ranks->ranks[at].label);
		key_table_free(&ranks->ranks[at].names);
	}
	free(ranks->ranks);
	free(ranks);
}
