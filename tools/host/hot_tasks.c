/* SPDX-License-Identifier: MIT */
/* hot_tasks.c - reads and prints "traceprof.tasks"; see hot_tasks.h. */
#include "tools/host/hot_tasks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"

static const struct {
	const char *field;
	size_t at;
	bool is_time;
} fields[] = {
	{"tid", offsetof(struct hot_task, tid), false},
	{"ran_us", offsetof(struct hot_task, ran_ns), true},
	{"ready_us", offsetof(struct hot_task, ready_ns), true},
	{"wall_us", offsetof(struct hot_task, wall_ns), true},
	{"minor_faults", offsetof(struct hot_task, minor_faults), false},
	{"major_faults", offsetof(struct hot_task, major_faults), false},
	{"voluntary", offsetof(struct hot_task, voluntary), false},
	{"involuntary", offsetof(struct hot_task, involuntary), false},
	{"migrations", offsetof(struct hot_task, migrations), false},
};

void hot_tasks_file(struct hot_tasks *tasks)
{
	tasks->begun = tasks->count;
}

static struct hot_task *row_of(struct hot_tasks *tasks, size_t at)
{
	struct hot_task *row;

	if (at > tasks->count - tasks->begun)
		return NULL;
	if (at == tasks->count - tasks->begun) {
		tasks->rows = memory_grow(tasks->rows, tasks->count,
					  &tasks->capacity, sizeof(*row));
		row = &tasks->rows[tasks->count++];
		*row = (struct hot_task){.tid = -1};
		for (size_t i = 1; i < sizeof(fields) / sizeof(fields[0]); i++)
			*(int64_t *)((char *)row + fields[i].at) = -1;
	}
	return &tasks->rows[tasks->begun + at];
}

void hot_tasks_entry(struct hot_tasks *tasks, const struct trace_entry *entry)
{
	static const char prefix[] = "traceprof.tasks.";
	const size_t len = sizeof(prefix) - 1;
	const struct trace_value *value = &entry->value;
	struct hot_task *row;
	const char *field;

	if (strncmp(entry->path, prefix, len))
		return;
	field = strchr(entry->path + len, '.');
	row = field ? row_of(tasks, strtoul(entry->path + len, NULL, 10))
		    : NULL;
	if (!row)
		return;
	if (!strcmp(field + 1, "name") && value->type == TRACE_STRING)
		snprintf(row->name, sizeof(row->name), "%s", value->text);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		int64_t *place = (int64_t *)((char *)row + fields[i].at);

		if (strcmp(field + 1, fields[i].field) ||
		    value->type != TRACE_NUMBER)
			continue;
		if (fields[i].is_time)
			decimal_to_ns(value->text, value->len, place);
		else
			decimal_to_integer(value->text, value->len, place);
	}
}

void hot_tasks_free(struct hot_tasks *tasks)
{
	free(tasks->rows);
	*tasks = (struct hot_tasks){0};
}

static int by_time(const void *left, const void *right)
{
	const struct hot_task *a = left, *b = right;

	return a->ran_ns > b->ran_ns ? -1 : a->ran_ns < b->ran_ns;
}

/* What the processes have beyond their threads that were looked at. */
static struct hot_task ended(const struct hot_tasks *tasks)
{
	struct hot_task rest = {.tid = 0, .ready_ns = -1, .migrations = -1};

	for (size_t i = 0; i < tasks->count; i++) {
		const struct hot_task *row = &tasks->rows[i];
		const int64_t sign = row->tid ? -1 : 1;

		for (size_t f = 1; f < sizeof(fields) / sizeof(fields[0]);
		     f++) {
			const int64_t *from =
				(const int64_t *)((const char *)row +
						  fields[f].at);
			int64_t *to = (int64_t *)((char *)&rest + fields[f].at);

			if (*to == -1 || *from == -1)
				continue;
			*to = saturate_add(*to, sign * *from);
			if (*to == -1)
				*to = 0;
		}
	}
	return rest;
}

int64_t hot_tasks_all_ns(const struct hot_tasks *tasks)
{
	int64_t all_ns = 0;

	for (size_t i = 0; i < tasks->count; i++)
		if (!tasks->rows[i].tid && tasks->rows[i].ran_ns > 0)
			saturate_into(&all_ns, tasks->rows[i].ran_ns);
	return all_ns;
}

static void put_count(struct table *table, int64_t value)
{
	if (value < 0)
		table_cell(table, "%s", "");
	else
		table_cell(table, "%lld", (long long)value);
}

static void put_share(struct table *table, int64_t part_ns, int64_t wall_ns)
{
	if (part_ns < 0 || wall_ns <= 0)
		table_cell(table, "%s", "");
	else
		table_cell(
			table, "%s",
			quantity_share((double)part_ns, (double)wall_ns).text);
}

/* It wanted no processor; -1: nobody knows. */
static int64_t idle_ns(const struct hot_task *row)
{
	int64_t idle = row->wall_ns;

	if (row->ran_ns < 0 || row->ready_ns < 0)
		return -1;
	saturate_into(&idle, -row->ran_ns);
	saturate_into(&idle, -row->ready_ns);
	return idle > 0 ? idle : 0;
}

static void put_row(struct table *table, const struct hot_task *row)
{
	table_cell(table, "%s",
		   row->ran_ns < 0 ? ""
				   : quantity_time((double)row->ran_ns).text);
	put_share(table, idle_ns(row), row->wall_ns);
	put_share(table, row->ready_ns, row->wall_ns);
	put_count(table, row->minor_faults);
	put_count(table, row->major_faults);
	put_count(table, row->voluntary);
	put_count(table, row->involuntary);
	put_count(table, row->migrations);
	if (row->tid)
		table_cell(table, "%lld %s", (long long)row->tid, row->name);
	else
		table_cell(table, "the rest: threads that ended, traceprof's");
}

void hot_tasks_print(const struct hot_tasks *tasks, size_t top, FILE *out)
{
	static const char *const headers[] = {
		"ran",	    "idle",	 "no core",    "faults", "major",
		"gave way", "preempted", "migrations", "thread"};
	struct hot_task *sorted;
	struct hot_task rest;
	struct table *table;
	size_t shown = 0;

	if (!tasks->count)
		return;
	sorted = memory_zeroed(tasks->count, sizeof(*sorted));
	memcpy(sorted, tasks->rows, tasks->count * sizeof(*sorted));
	qsort(sorted, tasks->count, sizeof(*sorted), by_time);
	table = table_new(TABLE_NUMBERS, headers,
			  sizeof(headers) / sizeof(headers[0]));
	for (size_t i = 0; i < tasks->count && (!top || shown < top); i++) {
		if (!sorted[i].tid)
			continue;
		put_row(table, &sorted[i]);
		shown++;
	}
	rest = ended(tasks);
	if (rest.ran_ns > 0)
		put_row(table, &rest);
	fputc('\n', out);
	table_print(table, out);
	free(sorted);
}

void hot_put_json(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void hot_tasks_print_json(const struct hot_tasks *tasks, FILE *out)
{
	fputs("\"threads\":[", out);
	for (size_t i = 0; i < tasks->count; i++) {
		const struct hot_task *row = &tasks->rows[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		hot_put_json(row->name, out);
		fprintf(out,
			",\"tid\":%lld,\"ran_ns\":%lld,\"ready_ns\":%lld,"
			"\"wall_ns\":%lld,\"minor_faults\":%lld,"
			"\"major_faults\":%lld,\"voluntary\":%lld,"
			"\"involuntary\":%lld,\"migrations\":%lld}",
			(long long)row->tid, (long long)row->ran_ns,
			(long long)row->ready_ns, (long long)row->wall_ns,
			(long long)row->minor_faults,
			(long long)row->major_faults, (long long)row->voluntary,
			(long long)row->involuntary,
			(long long)row->migrations);
	}
	fputs("]", out);
}
