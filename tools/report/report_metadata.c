/* SPDX-License-Identifier: MIT */
/*
 * report_metadata.c - what the writer says of its file in the object
 * "traceprof": heap, losses, notes, and sums that stay exact when the events
 * themselves had to end.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/util/decimal.h"
#include "tools/util/memory.h"
#include "tools/report/report.h"

/* One element of traceprof.totals; its fields come one by one. */
struct report_exact {
	char *name, *category;
	struct total sums;
};

static void put_row(struct report *report)
{
	struct report_exact *row = report->row;

	if (!row)
		return;
	if (row->name && row->category && row->sums.calls)
		tally_put(&report->exact, row->category, row->name,
			  strlen(row->name), &row->sums);
	report_metadata_free(report);
}

void report_metadata_free(struct report *report)
{
	if (!report->row)
		return;
	free(report->row->name);
	free(report->row->category);
	free(report->row);
	report->row = NULL;
}

static void take_text(char **text, const struct trace_value *value)
{
	free(*text);
	*text = value->type == TRACE_STRING ? strdup(value->text) : NULL;
}

static void take_ns(int64_t *ns, const struct trace_value *value)
{
	if (value->type == TRACE_NUMBER &&
	    decimal_to_ns(value->text, value->len, ns) < 0)
		*ns = 0;
}

static void take_integer(int64_t *field, const struct trace_value *value)
{
	int64_t number;

	if (value->type == TRACE_NUMBER &&
	    !decimal_to_integer(value->text, value->len, &number))
		*field = number;
}

/* path: what follows "traceprof.totals." */
static void total_entry(struct report *report, const char *path,
			const struct trace_value *value)
{
	const char *field = strchr(path, '.');
	int64_t calls = 0;

	if (!field) {
		put_row(report);
		report->row = memory_zeroed(1, sizeof(*report->row));
		return;
	}
	if (!report->row)
		return;
	if (!strcmp(field, ".name")) {
		take_text(&report->row->name, value);
	} else if (!strcmp(field, ".cat")) {
		take_text(&report->row->category, value);
	} else if (!strcmp(field, ".calls")) {
		take_integer(&calls, value);
		report->row->sums.calls = calls > 0 ? (uint64_t)calls : 0;
	} else if (!strcmp(field, ".total_us")) {
		take_ns(&report->row->sums.total_ns, value);
	} else if (!strcmp(field, ".min_us")) {
		take_ns(&report->row->sums.min_ns, value);
	} else if (!strcmp(field, ".max_us")) {
		take_ns(&report->row->sums.max_ns, value);
	}
}

static void heap_entry(struct report_heap *heap, const char *field,
		       const struct trace_value *value)
{
	if (!strcmp(field, "calls"))
		take_integer(&heap->calls, value);
	else if (!strcmp(field, "frees"))
		take_integer(&heap->frees, value);
	else if (!strcmp(field, "bytes"))
		take_integer(&heap->bytes, value);
	else if (!strcmp(field, "live_bytes"))
		take_integer(&heap->live_bytes, value);
	else if (!strcmp(field, "peak_bytes"))
		take_integer(&heap->peak_bytes, value);
}

static void cost_entry(struct report_cost *cost, const char *field,
		       const struct trace_value *value)
{
	if (!strcmp(field, "hooks_ns"))
		take_integer(&cost->hooks_ns, value);
	else if (!strcmp(field, "writer_ns"))
		take_integer(&cost->writer_ns, value);
}

static void note_entry(struct report *report, const struct trace_value *value)
{
	struct text_buffer note = {0};

	if (value->type != TRACE_STRING ||
	    report->note_count == REPORT_NOTES_MAX)
		return;
	text_buffer_cut(&note, 0);
	text_buffer_add_printable(&note, value->text, value->len, 300);
	report->notes[report->note_count++] = note.data;
}

void report_metadata(struct report *report, const struct trace_entry *entry)
{
	const struct trace_value *value = &entry->value;
	const char *path = entry->path;

	event_account_entry(&report->account, entry);
	if (strncmp(path, "traceprof.", 10))
		return;
	path += 10;
	if (!strncmp(path, "heap.", 5))
		heap_entry(&report->heap, path + 5, value);
	else if (!strncmp(path, "cost.", 5))
		cost_entry(&report->cost, path + 5, value);
	else if (!strncmp(path, "notes.", 6))
		note_entry(report, value);
	else if (!strncmp(path, "totals.", 7))
		total_entry(report, path + 7, value);
	else if (!strcmp(path, "detail_ended") && value->type == TRACE_NUMBER)
		take_ns(&report->detail_ended_ns, value);
	else if (!strcmp(path, "final"))
		report->is_unfinished = !strcmp(value->text, "false");
	else if (!strcmp(path, "recovered"))
		report->is_recovered = !strcmp(value->text, "true");
}

void report_metadata_end(struct report *report)
{
	put_row(report);
}
