/* SPDX-License-Identifier: MIT */
/*
 * export_folded.c - stacks of slices with the time that each had by itself,
 * one a line, as flamegraph.pl and speedscope read them.
 */
#include "tools/export/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/lane_spans.h"
#include "tools/util/numbers.h"

struct lane {
	struct lane_spans spans;
	char *label;
};

/* A path is its parent's number and a name. */
struct path {
	uint32_t parent, name;
	int64_t self_ns;
};

#define NO_PATH UINT32_MAX
#define STEPS	"ProfilerStep#*" /* all steps are one frame */

struct folded {
	struct trace_lanes lanes; /* struct lane */
	struct key_table names;
	struct key_table paths; /* struct path */
	struct text_buffer line;
	uint32_t root; /* of the lane */
};

static void add_clean(struct text_buffer *text, const char *name, size_t len)
{
	const size_t from = text->len;

	text_buffer_add_printable(text, name, len, 1000);
	for (size_t at = from; at < text->len; at++)
		if (text->data[at] == ';')
			text->data[at] = ':';
}

static void on_event(void *arg, const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	const bool is_step = !strncmp(name->text, "ProfilerStep#", 13);
	struct folded *folded = arg;
	struct trace_value label;
	struct lane *lane;

	if (!event->is_share && trace_event_is_slice(event) &&
	    !trace_value_is(&event->field[FIELD_CAT], "Trace")) {
		lane = key_table_row(&folded->lanes.table,
				     trace_lanes_number(&folded->lanes, event));
		lane_spans_add(
			&lane->spans,
			(struct lane_span){
				event->ts_ns, event->ts_ns + event->dur_ns,
				key_table_number(&folded->names,
						 is_step ? STEPS : name->text,
						 is_step ? sizeof(STEPS) - 1
							 : name->len),
				0,
				trace_value_is(&event->field[FIELD_CAT],
					       "gpu_user_annotation")});
	} else if (trace_value_is(name, "thread_name")) {
		label = trace_event_arg(event, "name");
		lane = key_table_row(&folded->lanes.table,
				     trace_lanes_number(&folded->lanes, event));
		free(lane->label);
		lane->label =
			label.type == TRACE_STRING ? strdup(label.text) : NULL;
	}
}

static uint32_t path_of(struct folded *folded, uint32_t parent, uint32_t name)
{
	const uint32_t key[2] = {parent, name};
	const uint32_t number =
		key_table_number(&folded->paths, key, sizeof(key));
	struct path *path = key_table_row(&folded->paths, number);

	path->parent = parent;
	path->name = name;
	return number;
}

/* Time inside another slice is taken off that one: the part that lies in it,
 * where slices cross. */
static bool on_enter(void *arg, const struct lane_span *outer,
		     struct lane_span *span)
{
	struct folded *folded = arg;
	const int64_t inside_ns = outer ? lane_span_inside_ns(outer, span)
					: span->end_ns - span->start_ns;
	struct path *path;

	span->mark =
		path_of(folded, outer ? outer->mark : folded->root, span->name);
	path = key_table_row(&folded->paths, span->mark);
	saturate_into(&path->self_ns, inside_ns);
	if (outer) {
		path = key_table_row(&folded->paths, outer->mark);
		saturate_into(&path->self_ns, -inside_ns);
	}
	return true;
}

static void add_path(struct folded *folded, uint32_t number)
{
	const struct path *path = key_table_row(&folded->paths, number);
	const char *name;
	size_t len;

	if (path->parent != NO_PATH) {
		add_path(folded, path->parent);
		text_buffer_add(&folded->line, ";", 1);
	}
	name = key_table_key(&folded->names, path->name, &len);
	add_clean(&folded->line, name, len);
}

static void walk(struct folded *folded)
{
	for (size_t at = 0; at < folded->lanes.table.count; at++) {
		struct lane *lane = key_table_row(&folded->lanes.table, at);
		const char *key = key_table_key(&folded->lanes.table, at, NULL);
		const char *label = lane->label ? lane->label : key;

		folded->root = path_of(
			folded, NO_PATH,
			key_table_number(&folded->names, label, strlen(label)));
		lane_spans_walk(&lane->spans, on_enter, folded);
	}
}

static int print(struct folded *folded, const char *output, char *why)
{
	gzFile out = export_open(output, "wbeT", why);

	if (!out)
		return -EIO;
	for (size_t at = 0; at < folded->paths.count; at++) {
		const struct path *path = key_table_row(&folded->paths, at);

		if (path->self_ns <= 0)
			continue;
		text_buffer_cut(&folded->line, 0);
		add_path(folded, (uint32_t)at);
		text_buffer_format(&folded->line, " %lld\n",
				   (long long)path->self_ns);
		gzwrite(out, folded->line.data, (unsigned int)folded->line.len);
	}
	return export_close(out, output, why);
}

int export_folded(const char *file, const char *output, char *why)
{
	struct folded folded = {
		.lanes = {.table = {.row_bytes = sizeof(struct lane)}},
		.paths = {.row_bytes = sizeof(struct path)},
	};
	const struct trace_sink sink = {on_event, export_no_entry, &folded};
	struct trace_facts facts;
	int error = trace_read(file, &sink, &facts);

	if (error) {
		snprintf(why, EXPORT_WHY, "%s: %s", file, facts.error);
	} else {
		walk(&folded);
		error = print(&folded, output, why);
	}
	for (size_t at = 0; at < folded.lanes.table.count; at++) {
		struct lane *lane = key_table_row(&folded.lanes.table, at);

		lane_spans_free(&lane->spans);
		free(lane->label);
	}
	trace_lanes_free(&folded.lanes);
	key_table_free(&folded.names);
	key_table_free(&folded.paths);
	text_buffer_free(&folded.line);
	return error;
}
