/* SPDX-License-Identifier: MIT */
/* export_csv.c - one row an event, as in RFC 4180 but for the line ends. */
#include "tools/export/export.h"

#include <errno.h>
#include <stdio.h>

struct csv {
	gzFile out;
	struct text_buffer row, args;
};

static void add_text(struct text_buffer *row, const char *text, size_t len)
{
	if (row->len)
		text_buffer_add(row, ",", 1);
	text_buffer_add(row, "\"", 1);
	for (size_t at = 0; at < len; at++)
		text_buffer_add(row, text[at] == '"' ? "\"\"" : &text[at],
				text[at] == '"' ? 2 : 1);
	text_buffer_add(row, "\"", 1);
}

static void on_event(void *arg, const struct trace_event *event)
{
	static const enum trace_field texts[] = {FIELD_PH, FIELD_PID, FIELD_TID,
						 FIELD_CAT, FIELD_NAME};
	struct csv *csv = arg;
	struct text_buffer *row = &csv->row;
	const char *args;

	if (event->is_share)
		return;
	args = export_args(event, &csv->args);
	text_buffer_cut(row, 0);
	for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++)
		add_text(row, event->field[texts[at]].text,
			 event->field[texts[at]].len);
	text_buffer_add(row, ",", 1);
	if (event->ts_state == TIME_GOOD || event->ts_state == TIME_FINE)
		text_buffer_format(row, "%lld", (long long)event->ts_ns);
	text_buffer_add(row, ",", 1);
	if (event->dur_state == TIME_GOOD || event->dur_state == TIME_FINE)
		text_buffer_format(row, "%lld", (long long)event->dur_ns);
	add_text(row, event->field[FIELD_ID].text, event->field[FIELD_ID].len);
	add_text(row, args, csv->args.len);
	text_buffer_add(row, "\n", 1);
	gzwrite(csv->out, row->data, (unsigned int)row->len);
}

int export_csv(const char *file, const char *output, char *why)
{
	static const char head[] =
		"ph,pid,tid,cat,name,start_ns,dur_ns,id,args\n";
	const size_t len = strlen(output);
	struct csv csv = {0};
	const struct trace_sink sink = {on_event, export_no_entry, &csv};
	struct trace_facts facts;
	int error, closed;

	csv.out = export_open(
		output,
		len > 3 && !strcmp(output + len - 3, ".gz") ? "wbe6" : "wbeT",
		why);
	if (!csv.out)
		return -EIO;
	gzwrite(csv.out, head, sizeof(head) - 1);
	error = trace_read(file, &sink, &facts);
	if (error)
		snprintf(why, EXPORT_WHY, "%s: %s", file, facts.error);
	closed = export_close(csv.out, output, error ? facts.error : why);
	if (error)
		export_discard(output);
	text_buffer_free(&csv.row);
	text_buffer_free(&csv.args);
	return error ? error : closed;
}
