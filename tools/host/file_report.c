/* SPDX-License-Identifier: MIT */
/* file_report.c - sums of the slices of files; see file_report.h. */
#include "tools/host/file_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/trace_reader.h"
#include "tools/util/command.h"
#include "tools/util/key_table.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"

/* A file and what was done with it: "read: /data/x". */
struct file_row {
	int64_t calls, bytes, ns;
};

struct span_of {
	int64_t start_ns, end_ns;
	int64_t bytes, ns; /* of a step: of files in it */
	int64_t number;
};

struct file_sums {
	struct key_table rows; /* struct file_row */
	struct span_of *calls, *steps;
	size_t call_count, call_capacity;
	size_t step_count, step_capacity;
	int64_t read_bytes, disk_bytes; /* of the process; -1 not known */
};

static void keep(struct span_of **list, size_t *count, size_t *capacity,
		 const struct trace_event *event, int64_t bytes)
{
	*list = memory_grow(*list, *count, capacity, sizeof(**list));
	(*list)[(*count)++] =
		(struct span_of){.start_ns = event->ts_ns,
				 .end_ns = event->ts_ns + event->dur_ns,
				 .bytes = bytes};
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct file_sums *sums = arg;
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct file_row *row;
	int64_t bytes = 0;

	if (!trace_event_is_slice(event))
		return;
	if (!strncmp(name->text, "ProfilerStep#", 13)) {
		keep(&sums->steps, &sums->step_count, &sums->step_capacity,
		     event, 0);
		sums->steps[sums->step_count - 1].number =
			atoll(name->text + 13);
		return;
	}
	if (!trace_value_is(&event->field[FIELD_CAT], "file_io"))
		return;
	trace_event_integer(event, "bytes", &bytes);
	row = key_table_row(
		&sums->rows,
		key_table_number(&sums->rows, name->text, name->len));
	row->calls++;
	saturate_into(&row->bytes, bytes);
	saturate_into(&row->ns, event->dur_ns);
	keep(&sums->calls, &sums->call_count, &sums->call_capacity, event,
	     strncmp(name->text, "map: ", 5) ? bytes : 0);
}

static void add_number(const struct trace_entry *entry, const char *path,
		       int64_t *sum)
{
	int64_t value;

	if (strcmp(entry->path, path) ||
	    decimal_to_integer(entry->value.text, entry->value.len, &value))
		return;
	*sum = saturate_add(*sum < 0 ? 0 : *sum, value);
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct file_sums *sums = arg;

	add_number(entry, "traceprof.io.read_bytes", &sums->read_bytes);
	add_number(entry, "traceprof.io.disk_bytes", &sums->disk_bytes);
}

static int by_start(const void *left, const void *right)
{
	const struct span_of *a = left, *b = right;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Calls of any thread count for the step in which they began. */
static void by_step(struct file_sums *sums)
{
	size_t step = 0;

	qsort(sums->calls, sums->call_count, sizeof(*sums->calls), by_start);
	qsort(sums->steps, sums->step_count, sizeof(*sums->steps), by_start);
	for (size_t i = 0; i < sums->call_count; i++) {
		const struct span_of *call = &sums->calls[i];

		while (step < sums->step_count &&
		       sums->steps[step].end_ns <= call->start_ns)
			step++;
		if (step == sums->step_count)
			return;
		if (sums->steps[step].start_ns > call->start_ns)
			continue;
		saturate_into(&sums->steps[step].bytes, call->bytes);
		saturate_into(&sums->steps[step].ns,
			      call->end_ns - call->start_ns);
	}
}

static void print_steps(const struct file_sums *sums)
{
	const struct span_of *worst = sums->steps;
	int64_t bytes = 0, ns = 0, all_ns = 0;

	if (!sums->step_count)
		return;
	for (size_t i = 0; i < sums->step_count; i++) {
		const struct span_of *step = &sums->steps[i];

		saturate_into(&bytes, step->bytes);
		saturate_into(&ns, step->ns);
		saturate_into(&all_ns, step->end_ns - step->start_ns);
		if (step->ns > worst->ns)
			worst = step;
	}
	printf("%zu steps of %s: %s in files each, for %s; most in step %lld: "
	       "%s, for %s\n",
	       sums->step_count,
	       quantity_time((double)all_ns / (double)sums->step_count).text,
	       quantity_time((double)ns / (double)sums->step_count).text,
	       quantity_bytes((double)bytes / (double)sums->step_count).text,
	       (long long)worst->number, quantity_time((double)worst->ns).text,
	       quantity_bytes((double)worst->bytes).text);
}

static const struct file_sums *sorted; /* for the comparison alone */

static int by_time(const void *left, const void *right)
{
	const struct file_row *a =
		key_table_row(&sorted->rows, *(const size_t *)left);
	const struct file_row *b =
		key_table_row(&sorted->rows, *(const size_t *)right);

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static void print_rows(const struct file_sums *sums, size_t top)
{
	static const char *const headers[] = {"calls", "bytes", "time", "rate",
					      "file"};
	const size_t count = sums->rows.count;
	size_t *order = memory_zeroed(count, sizeof(*order));
	struct table *table = table_new(TABLE_NUMBERS, headers,
					sizeof(headers) / sizeof(headers[0]));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	sorted = sums;
	qsort(order, count, sizeof(*order), by_time);
	for (size_t i = 0; i < count && (!top || i < top); i++) {
		const struct file_row *row =
			key_table_row(&sums->rows, order[i]);
		const char *name = key_table_key(&sums->rows, order[i], NULL);

		table_cell(table, "%lld", (long long)row->calls);
		table_cell(table, "%s",
			   quantity_bytes((double)row->bytes).text);
		table_cell(table, "%s", quantity_time((double)row->ns).text);
		/* What is mapped is read when it is touched. */
		table_cell(table, "%s",
			   row->ns <= 0 || !strncmp(name, "map: ", 5)
				   ? "-"
				   : quantity_rate((double)row->bytes,
						   (double)row->ns)
					     .text);
		table_cell(table, "%s", name);
	}
	table_print(table, stdout);
	if (top && count > top)
		printf("... %zu more\n", count - top);
	free(order);
}

static void print_unseen(const struct file_sums *sums)
{
	int64_t seen = 0;

	for (size_t i = 0; i < sums->rows.count; i++) {
		const struct file_row *row = key_table_row(&sums->rows, i);

		if (!strncmp(key_table_key(&sums->rows, i, NULL), "read: ", 6))
			saturate_into(&seen, row->bytes);
	}
	if (sums->read_bytes < 0)
		return;
	printf("\n%s read by these calls; by the whole process, pipes, sockets "
	       "and what\nno hook sees (buffered streams, io_uring) included: "
	       "%s, %s of it from disks\n",
	       quantity_bytes((double)seen).text,
	       quantity_bytes((double)sums->read_bytes).text,
	       quantity_bytes((double)sums->disk_bytes).text);
}

int file_report(char **files, int count, size_t top)
{
	struct file_sums sums = {.rows = {.row_bytes = sizeof(struct file_row)},
				 .read_bytes = -1,
				 .disk_bytes = -1};
	const struct trace_sink sink = {on_event, on_entry, &sums};
	struct trace_facts facts;
	int code = EXIT_GOOD;

	for (int i = 0; i < count && code == EXIT_GOOD; i++) {
		if (!trace_read(files[i], &sink, &facts))
			continue;
		fprintf(stderr, "traceprof report: %s: %s\n", files[i],
			facts.error);
		code = EXIT_UNREADABLE;
	}
	if (code == EXIT_GOOD && !sums.rows.count) {
		fprintf(stderr,
			"traceprof report: no reads of files in %s; record "
			"with --io\n",
			files[0]);
		code = EXIT_UNREADABLE;
	}
	if (code == EXIT_GOOD) {
		by_step(&sums);
		print_steps(&sums);
		print_rows(&sums, top);
		print_unseen(&sums);
	}
	key_table_free(&sums.rows);
	free(sums.calls);
	free(sums.steps);
	return code;
}
