/* SPDX-License-Identifier: MIT */
/* steps_streams.c - from events to marks; see steps_streams.h. */
#include "tools/steps_streams.h"

#include <stdlib.h>
#include <string.h>

#include "collector/control/search.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* Of a note. */
#define NOTE_BYTES 300u

/* What a call put on the GPU. */
struct work {
	uint32_t kernel; /* its name's number, plus 1; 0 none yet */
};

static bool is_main(const struct trace_event *event)
{
	return !strcmp(event->field[FIELD_PID].text,
		       event->field[FIELD_TID].text);
}

static struct stream *stream_of(struct steps_reader *reader,
				const struct trace_event *event,
				uint32_t family)
{
	const uint32_t lane = trace_lanes_number(&reader->lanes, event);
	struct stream *stream;

	for (size_t i = 0; i < reader->count; i++) {
		stream = &reader->streams[i];
		if (stream->lane == lane && stream->family == family)
			return stream;
	}
	reader->streams =
		memory_grow(reader->streams, reader->count, &reader->capacity,
			    sizeof(*reader->streams));
	stream = &reader->streams[reader->count++];
	*stream = (struct stream){
		.family = family, .lane = lane, .is_main = is_main(event)};
	return stream;
}

static uint64_t number_of(struct steps_reader *reader,
			  const struct trace_event *event)
{
	return 1 + key_table_number(&reader->names,
				    event->field[FIELD_NAME].text,
				    event->field[FIELD_NAME].len);
}

/* A call's correlation as a key; false: it has none. */
static bool work_of(struct steps_reader *reader,
		    const struct trace_event *event, uint32_t *row)
{
	const struct trace_value id = trace_event_arg(event, "correlation");

	if (id.type != TRACE_NUMBER)
		return false;
	*row = key_table_number(&reader->work, id.text, id.len);
	return true;
}

static bool has_category(const struct trace_event *event, const char *category)
{
	return trace_value_is(&event->field[FIELD_CAT], category);
}

/* Those that put work on a GPU, by their names. */
static bool is_work(const struct trace_event *event)
{
	const char *name = event->field[FIELD_NAME].text;

	return (has_category(event, "cuda_runtime") ||
		has_category(event, "cuda_driver")) &&
	       (strstr(name, "Launch") || strstr(name, "Memcpy") ||
		strstr(name, "Memset"));
}

/* What is drawn of others, and begins no step in a run. */
static bool is_drawn_of_others(const char *name)
{
	static const char *const starts[] = {"ProfilerStep#",
					     "phase: ", "DataLoader fetch",
					     "DataLoader collate"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

static bool family_of(const struct trace_event *event, uint32_t *family)
{
	const struct trace_value omp = trace_event_arg(event, "omp");

	*family = SEARCH_REGIONS;
	if (trace_value_is(&omp, "parallel"))
		return true;
	*family = SEARCH_CALLS;
	if (is_work(event))
		return true;
	*family = SEARCH_RANGES;
	return has_category(event, "user_annotation") &&
	       !is_drawn_of_others(event->field[FIELD_NAME].text);
}

/* The kernel that a call launched; a graph's are not the call's. */
static void take_kernel(struct steps_reader *reader,
			const struct trace_event *event)
{
	const struct trace_value node = trace_event_arg(event, "graph node id");
	struct work *work;
	uint32_t row;

	if (node.type == TRACE_NUMBER && strcmp(node.text, "0") != 0)
		return;
	if (!work_of(reader, event, &row))
		return;
	work = key_table_row(&reader->work, row);
	work->kernel = (uint32_t)number_of(reader, event);
}

void steps_take_event(void *arg, const struct trace_event *event)
{
	struct steps_reader *reader = arg;
	struct stream *stream;
	struct loop_mark *mark;
	uint32_t family, row;

	if (!trace_event_is_slice(event))
		return;
	if (has_category(event, "kernel")) {
		take_kernel(reader, event);
		return;
	}
	if (!family_of(event, &family))
		return;
	stream = stream_of(reader, event, family);
	stream->marks = memory_grow(stream->marks, stream->count,
				    &stream->capacity, sizeof(*stream->marks));
	mark = &stream->marks[stream->count++];
	*mark = (struct loop_mark){
		.id = number_of(reader, event),
		.ticks = (uint64_t)event->ts_ns,
		.end_ticks = (uint64_t)(event->ts_ns + event->dur_ns)};
	if (family == SEARCH_REGIONS) {
		mark->is_in_team =
			trace_event_arg(event, "nested").type == TRACE_BOOLEAN;
		stream->outer += !mark->is_in_team;
		reader->leaves_teams |= stream->outer >= LOOP_HITS_LEAST;
	}
	reader->first = min_u64(reader->first, mark->ticks);
	reader->last = max_u64(reader->last, mark->end_ticks);
	if (family == SEARCH_CALLS)
		mark->is_copy = strstr(event->field[FIELD_NAME].text, "Memcpy");
	if (family == SEARCH_CALLS && work_of(reader, event, &row))
		mark->note = row + UINT64_C(1);
}

void steps_take_entry(void *arg, const struct trace_entry *entry)
{
	struct steps_reader *reader = arg;
	const struct trace_value *value = &entry->value;

	trace_sampled_entry(&reader->sampled, entry);
	if (!strcmp(entry->path, "traceprof.detail_ended"))
		reader->is_cut = value->type == TRACE_NUMBER;
	if (!strncmp(entry->path, "traceprof.notes.", 16) &&
	    value->type == TRACE_STRING && !strncmp(value->text, "step = ", 7))
		text_buffer_add_printable(&reader->told, value->text,
					  value->len, NOTE_BYTES);
}

const char *steps_name_of(const struct steps_reader *reader,
			  const struct loop_mark *mark)
{
	return key_table_key(&reader->names, mark->note - 1, NULL);
}

/* What is around others comes first. */
static int compare(const void *left, const void *right)
{
	const struct loop_mark *a = left;
	const struct loop_mark *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->end_ticks > b->end_ticks ? -1 : a->end_ticks < b->end_ticks;
}

static void name_range(const struct steps_reader *reader,
		       struct loop_mark *mark)
{
	const char *name = steps_name_of(reader, mark);

	mark->id = search_name(NULL, name);
	mark->is_step_like = search_is_step_like(name);
}

/* Each mark's name into its note, and its site: a launch's is its kernel;
 * numbers in a range's name don't count. */
void steps_resolve(struct steps_reader *reader, struct stream *stream)
{
	size_t kept = 0;

	for (size_t i = 0; i < stream->count; i++) {
		struct loop_mark *mark = &stream->marks[i];

		if (mark->note) {
			const struct work *work = key_table_row(
				&reader->work, (size_t)mark->note - 1);

			if (work->kernel)
				mark->id = work->kernel;
		}
		mark->note = mark->id;
		if (stream->family == SEARCH_RANGES)
			name_range(reader, mark);
		if (mark->id)
			stream->marks[kept++] = *mark;
	}
	stream->count = kept;
	qsort(stream->marks, stream->count, sizeof(*stream->marks), compare);
}

struct steps_reader steps_reader_new(void)
{
	return (struct steps_reader){.work.row_bytes = sizeof(struct work),
				     .first = UINT64_MAX};
}

void steps_reader_free(struct steps_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++)
		free(reader->streams[i].marks);
	free(reader->streams);
	key_table_free(&reader->names);
	key_table_free(&reader->work);
	text_buffer_free(&reader->told);
	trace_sampled_free(&reader->sampled);
	trace_lanes_free(&reader->lanes);
}
