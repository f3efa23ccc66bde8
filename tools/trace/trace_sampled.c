/* SPDX-License-Identifier: MIT */
/* trace_sampled.c - reads "traceprof.sampled"; see trace_sampled.h. */
#include "tools/trace/trace_sampled.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

static const struct {
	const char *field;
	size_t at;
	enum { ROW_TEXT, ROW_COUNT, ROW_TIME } kind;
} fields[] = {
	{"name", offsetof(struct trace_sampled_row, name), ROW_TEXT},
	{"omp", offsetof(struct trace_sampled_row, part), ROW_TEXT},
	{"heap", offsetof(struct trace_sampled_row, part), ROW_TEXT},
	{"sampled", offsetof(struct trace_sampled_row, share), ROW_TEXT},
	{"seen", offsetof(struct trace_sampled_row, seen), ROW_COUNT},
	{"drawn", offsetof(struct trace_sampled_row, drawn), ROW_COUNT},
	{"thinned", offsetof(struct trace_sampled_row, thinned), ROW_COUNT},
	{"total_us", offsetof(struct trace_sampled_row, total_ns), ROW_TIME},
	{"min_us", offsetof(struct trace_sampled_row, min_ns), ROW_TIME},
	{"max_us", offsetof(struct trace_sampled_row, max_ns), ROW_TIME},
};

static void take(struct trace_sampled_row *row, size_t at,
		 const struct trace_value *value)
{
	char *place = (char *)row + fields[at].at;

	if (fields[at].kind == ROW_TEXT && value->type == TRACE_STRING) {
		free(*(char **)place);
		*(char **)place = strdup(value->text);
	}
	if (value->type != TRACE_NUMBER)
		return;
	if (fields[at].kind == ROW_COUNT)
		decimal_to_integer(value->text, value->len, (int64_t *)place);
	if (fields[at].kind == ROW_TIME)
		decimal_to_ns(value->text, value->len, (int64_t *)place);
}

void trace_sampled_entry(struct trace_sampled *sampled,
			 const struct trace_entry *entry)
{
	static const char prefix[] = "traceprof.sampled.";
	const size_t len = sizeof(prefix) - 1;
	const char *field;
	size_t row;

	if (strncmp(entry->path, prefix, len))
		return;
	row = strtoul(entry->path + len, NULL, 10);
	field = strchr(entry->path + len, '.');
	if (!field || row > sampled->count)
		return;
	if (row == sampled->count) {
		sampled->rows =
			memory_grow(sampled->rows, sampled->count,
				    &sampled->capacity, sizeof(*sampled->rows));
		sampled->rows[sampled->count++] = (struct trace_sampled_row){0};
	}
	for (size_t at = 0; at < sizeof(fields) / sizeof(fields[0]); at++) {
		if (!strcmp(field + 1, fields[at].field))
			take(&sampled->rows[row], at, &entry->value);
	}
}

const struct trace_sampled_row *
trace_sampled_find(const struct trace_sampled *sampled, const char *part,
		   const char *name)
{
	for (size_t at = 0; at < sampled->count; at++) {
		const struct trace_sampled_row *row = &sampled->rows[at];

		if (row->name && row->part && !strcmp(row->name, name) &&
		    !strcmp(row->part, part))
			return row;
	}
	return NULL;
}

bool trace_sampled_is_heap(const struct trace_sampled_row *row)
{
	return !strcmp(row->part, "alloc") || !strcmp(row->part, "free");
}

void trace_sampled_scale(struct trace_sampled *sampled, double part)
{
	for (size_t at = 0; at < sampled->count; at++) {
		struct trace_sampled_row *row = &sampled->rows[at];

		row->seen = (int64_t)((double)row->seen * part);
		row->drawn = (int64_t)((double)row->drawn * part);
		row->thinned = (int64_t)((double)row->thinned * part);
		row->total_ns = (int64_t)((double)row->total_ns * part);
	}
}

void trace_sampled_free(struct trace_sampled *sampled)
{
	for (size_t at = 0; at < sampled->count; at++) {
		free(sampled->rows[at].name);
		free(sampled->rows[at].part);
		free(sampled->rows[at].share);
	}
	free(sampled->rows);
	*sampled = (struct trace_sampled){0};
}

struct trace_sampled_row trace_sampled_sum(const struct trace_sampled *sampled,
					   const char *part)
{
	struct trace_sampled_row sum = {0};

	for (size_t at = 0; at < sampled->count; at++) {
		const struct trace_sampled_row *row = &sampled->rows[at];

		if (!row->part || strcmp(row->part, part))
			continue;
		saturate_into(&sum.seen, row->seen);
		saturate_into(&sum.drawn, row->drawn);
		saturate_into(&sum.thinned, row->thinned);
		saturate_into(&sum.total_ns, row->total_ns);
	}
	return sum;
}
