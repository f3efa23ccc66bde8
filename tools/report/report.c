/* SPDX-License-Identifier: MIT */
/*
 * report.c - one pass over a file, everything added up.
 */
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/util/memory.h"

static struct report_device *device_of(struct report *report,
				       const struct trace_event *event,
				       const char *arg)
{
	int64_t device;

	if (!trace_event_integer(event, arg, &device) || device < 0 ||
	    device >= REPORT_DEVICES_MAX)
		return NULL;
	report->devices[device].device = device;
	return &report->devices[device];
}

static void on_step(struct report *report, const struct trace_event *event)
{
	struct report_steps *steps = &report->steps;
	const struct trace_value *name = &event->field[FIELD_NAME];
	const struct trace_value finished = trace_event_arg(event, "finished");
	const bool is_cut = trace_value_is(&finished, "false");
	const int64_t whole = steps->count - steps->cut;
	int64_t number;
	bool is_first;

	if (decimal_to_integer(name->text + 13, name->len - 13, &number))
		return;
	/* What follows the loop may be in one that is cut: it tells where there
	 * is no other. */
	is_first = !steps->count || (!is_cut && !whole);
	if (is_first)
		steps->total_ns = 0;
	if (!is_cut || !whole) {
		if (is_first || event->dur_ns < steps->min_ns)
			steps->min_ns = event->dur_ns;
		if (is_first || event->dur_ns > steps->max_ns) {
			steps->max_ns = event->dur_ns;
			steps->slowest = number;
		}
		saturate_into(&steps->total_ns, event->dur_ns);
	}
	steps->count++;
	steps->cut += is_cut;
}

static void add_work(struct report_device *device, enum report_work work,
		     const struct trace_event *event)
{
	int64_t bytes;

	device->calls[work]++;
	saturate_into(&device->sum_ns[work], event->dur_ns);
	busy_time_add(&device->busy, event->ts_ns,
		      event->ts_ns + event->dur_ns);
	if (trace_event_integer(event, "bytes", &bytes) && bytes > 0)
		saturate_into(&device->bytes, bytes);
}

static enum report_work work_of(const struct trace_value *category)
{
	if (trace_value_is(category, "kernel"))
		return WORK_KERNEL;
	if (trace_value_is(category, "gpu_memcpy"))
		return WORK_COPY;
	return trace_value_is(category, "gpu_memset") ? WORK_FILL : WORK_COUNT;
}

static void on_gpu(struct report *report, const struct trace_event *event)
{
	const enum report_work work = work_of(&event->field[FIELD_CAT]);
	struct report_device *device, *stream;
	int64_t key[2];
	uint32_t number;

	if (work == WORK_COUNT)
		return;
	device = device_of(report, event, "device");
	if (!device) /* a copy between devices names three of them */
		device = device_of(report, event, "inDevice");
	if (!device)
		return;
	add_work(device, work, event);
	key[0] = device->device;
	if (!trace_event_integer(event, "stream", &key[1]))
		return;
	number = key_table_number(&report->streams, key, sizeof(key));
	if (number >= REPORT_STREAMS_MAX)
		return;
	stream = key_table_row(&report->streams, number);
	stream->device = key[0];
	stream->stream = key[1];
	add_work(stream, work, event);
}

/* What --long says in the place of a name; NULL: that is known. */
static char **unknown_whole(struct report *report, const char *name)
{
	char **whole = key_table_row(
		&report->functions,
		key_table_number(&report->functions, name, strlen(name)));

	return *whole ? NULL : whole;
}

/* The library folds long ones, and says once a region what they are. */
static void note_function(struct report *report,
			  const struct trace_event *event)
{
	const struct trace_value function = trace_event_arg(event, "function");
	const char *name = event->field[FIELD_NAME].text;
	const char *number = strstr(name, " [omp parallel ");
	struct text_buffer text = {0};
	char **whole;

	if (function.type != TRACE_STRING)
		return;
	whole = unknown_whole(report, name);
	if (!whole)
		return;
	text_buffer_format(&text, "%s%s", function.text, number ? number : "");
	*whole = text.data;
}

/* A kernel of torch.compile's, and what that made it of. */
static void note_operators(struct report *report,
			   const struct trace_event *event)
{
	const struct trace_value operators =
		trace_event_arg(event, "Original ATen");
	const char *name = event->field[FIELD_NAME].text;
	struct text_buffer text = {0};
	char **whole;

	if (operators.type != TRACE_STRING)
		return;
	whole = unknown_whole(report, name);
	if (!whole)
		return;
	text_buffer_format(&text, "%s [%s]", name, operators.text);
	*whole = text.data;
}

static const char *category_of(struct report *report,
			       const struct trace_event *event, uint32_t lane)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	if (part.type == TRACE_ABSENT) {
		note_operators(report, event);
		return event->field[FIELD_CAT].text;
	}
	region_totals_event(&report->regions, event, part.text, lane);
	note_function(report, event);
	if (trace_value_is(&part, "task"))
		return REPORT_MEMBERS;
	if (trace_value_is(&part, "wait") || trace_value_is(&part, "waits"))
		return REPORT_WAITS;
	return event->field[FIELD_CAT].text;
}

static struct report_lane *lane_at(const struct report *report, uint32_t lane)
{
	return key_table_row(&report->lanes.table, lane);
}

/* Of a file that was merged each has its own. */
static void note_span(struct report *report, int64_t start_ns, int64_t end_ns)
{
	const bool is_first = report->span_end_ns <= report->span_start_ns;

	if (is_first || start_ns < report->span_start_ns)
		report->span_start_ns = start_ns;
	if (is_first || end_ns > report->span_end_ns)
		report->span_end_ns = end_ns;
}

/* True for what is no content of the trace: the span of the recording, which is
 * noted, and the passes of our own writer. */
static bool is_ours(struct report *report, const struct trace_event *event)
{
	const struct trace_value *category = &event->field[FIELD_CAT];

	if (trace_value_is(category, "Trace")) {
		note_span(report, event->ts_ns, event->ts_ns + event->dur_ns);
		return true;
	}
	return trace_value_is(category, "overhead") &&
	       trace_value_is(&event->field[FIELD_NAME], "traceprof writer");
}

static void on_slice(struct report *report, const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	const int64_t end_ns = event->ts_ns + event->dur_ns;
	const bool is_step = !strncmp(name->text, "ProfilerStep#", 13);
	const char *category;
	int64_t bytes = 0;
	uint32_t lane;

	if (is_ours(report, event))
		return;
	lane = trace_lanes_number(&report->lanes, event);
	category = category_of(report, event, lane);
	if (event->ts_ns < report->start_ns)
		report->start_ns = event->ts_ns;
	if (end_ns > report->end_ns)
		report->end_ns = end_ns;
	if (report->choice.tree) /* all steps are one node of it */
		scope_tree_add(&report->tree, &lane_at(report, lane)->spans,
			       is_step ? "ProfilerStep#*" : name->text,
			       is_step ? 14 : name->len, event->ts_ns, end_ns,
			       !strcmp(category, REPORT_MEMBERS),
			       !strcmp(category, "gpu_user_annotation"));
	if (is_step) {
		if (!strcmp(category, "user_annotation"))
			on_step(report, event);
		return;
	}
	on_gpu(report, event);
	report_side_slice(report, event, lane);
	report_blas_slice(&report->blas, event);
	report_buckets_slice(&report->buckets, &report->timeline, event);
	trace_event_integer(event, "bytes", &bytes);
	report_group(report, event, category,
		     (struct tally_call){lane, event->ts_ns, event->dur_ns,
					 bytes > 0 ? bytes : 0});
}

static void on_memory(struct report *report, const struct trace_event *event,
		      struct report_memory *memory)
{
	struct report_device *device;
	int64_t bytes, type = 0, total;

	if (!trace_event_integer(event, "Bytes", &bytes))
		return;
	trace_event_integer(event, "Device Type", &type);
	if (type) {
		device = device_of(report, event, "Device Id");
		if (!device)
			return;
		memory = &device->memory;
	}
	if (bytes < 0) {
		memory->frees++;
		memory->free_bytes =
			saturate_subtract(memory->free_bytes, bytes);
	} else {
		memory->allocs++;
		saturate_into(&memory->alloc_bytes, bytes);
	}
	if (trace_event_integer(event, "Total Allocated", &total) &&
	    total > memory->peak_bytes)
		memory->peak_bytes = total;
	if (trace_event_integer(event, "Total Reserved", &total) &&
	    total > memory->reserved_bytes)
		memory->reserved_bytes = total;
}

/* Remembers the names of threads, for the tree. */
static void on_metadata(struct report *report, const struct trace_event *event)
{
	const struct trace_value label = trace_event_arg(event, "name");
	struct text_buffer text = {0};
	struct report_lane *lane;

	if (!report->choice.tree || label.type != TRACE_STRING ||
	    !trace_value_is(&event->field[FIELD_NAME], "thread_name"))
		return;
	lane = lane_at(report, trace_lanes_number(&report->lanes, event));
	text_buffer_add_printable(&text, label.text, label.len, 100);
	free(lane->label);
	lane->label = text.data;
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct report *report = arg;
	const struct trace_value *ph = &event->field[FIELD_PH];

	if (report->choice.by == BY_SITE)
		report_note_site(report, event);
	if (!report_is_inside(report, event))
		return;
	timeline_event(&report->timeline, event);
	if (trace_value_is(ph, "M"))
		on_metadata(report, event);
	else if (trace_value_is(ph, "i") &&
		 trace_value_is(&event->field[FIELD_NAME], "[memory]"))
		on_memory(report, event, &report->heap_events);
	else if (trace_value_is(ph, "i") &&
		 trace_value_is(&event->field[FIELD_NAME], "[memory] pinned"))
		on_memory(report, event, &report->pinned);
	else {
		report_breaks_event(&report->breaks, event);
		if (trace_event_is_slice(event))
			on_slice(report, event);
	}
}

/* An element of traceprof.totals is complete. */
static void end_row(struct report *report)
{
	struct exact_row *row = &report->row;

	row->sums.sum_ns = row->sums.total_ns;
	if (row->name && row->category && row->sums.calls > 0)
		tally_put(&report->exact, row->category, row->name,
			  strlen(row->name), &row->sums);
	free(row->name);
	free(row->category);
	*row = (struct exact_row){0};
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

/* Sums that stay exact when the events themselves had to end.  The fields of an
 * element come one by one; path: what follows "traceprof.totals." */
static void on_total(struct report *report, const char *path,
		     const struct trace_value *value)
{
	struct exact_row *row = &report->row;
	const char *field = strchr(path, '.');

	if (!field)
		end_row(report);
	else if (!strcmp(field, ".name"))
		take_text(&row->name, value);
	else if (!strcmp(field, ".cat"))
		take_text(&row->category, value);
	else if (!strcmp(field, ".calls") && value->type == TRACE_NUMBER)
		decimal_to_integer(value->text, value->len, &row->sums.calls);
	else if (!strcmp(field, ".total_us"))
		take_ns(&row->sums.total_ns, value);
	else if (!strcmp(field, ".min_us"))
		take_ns(&row->sums.min_ns, value);
	else if (!strcmp(field, ".max_us"))
		take_ns(&row->sums.max_ns, value);
}

static void on_note(struct report *report, const struct trace_value *value)
{
	struct text_buffer note = {0};

	if (value->type != TRACE_STRING ||
	    report->note_count == REPORT_NOTES_MAX)
		return;
	text_buffer_cut(&note, 0);
	text_buffer_add_printable(&note, value->text, value->len, 300);
	report->notes[report->note_count++] = note.data;
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct report *report = arg;

	trace_metadata_entry(&report->metadata, entry);
	trace_sampled_entry(&report->sampled, entry);
	report_blas_entry(&report->blas, entry);
	hot_tasks_entry(&report->tasks, entry);
	if (!strncmp(entry->path, "traceprof.notes.", 16))
		on_note(report, &entry->value);
	else if (!strncmp(entry->path, "traceprof.totals.", 17))
		on_total(report, entry->path + 17, &entry->value);
}

/* What was counted over the whole recording is taken to be spread evenly; what
 * the first thread waited for a processor is said to be the run's, and nobody
 * knows where stacks were deep. */
static void judge_part(struct report *report)
{
	const struct trace_metadata *whole = &report->metadata;
	struct trace_metadata *part = &report->judged_by;

	*part = *whole;
	if (report_part(report) >= 1)
		return;
	trace_metadata_scale(part, report_part(report));
	part->cut_stacks = -1;
	part->ran_ns = whole->ran_ns;
	part->unscheduled_ns = whole->unscheduled_ns;
	part->lived_ns = whole->lived_ns;
}

int report_read(struct report *report, const char *file,
		const struct report_choice *choice)
{
	const struct trace_sink sink = {on_event, on_entry, report};
	int error;

	*report = (struct report){
		.file = file,
		.choice = *choice,
		.start_ns = INT64_MAX,
		.end_ns = INT64_MIN,
		.streams = {.row_bytes = sizeof(struct report_device)},
		.functions = {.row_bytes = sizeof(char *)},
		.lanes = {.table = {.row_bytes = sizeof(struct report_lane)}},
	};
	trace_metadata_begin(&report->metadata);
	timeline_begin(&report->timeline);
	error = report_window(report);
	if (!error)
		error = trace_read_quietly(file, &sink, &report->facts);
	if (error)
		return error;
	end_row(report);
	report->region_list =
		region_totals_list(&report->regions, &report->region_count);
	report_scale(report);
	timeline_finish(&report->timeline);
	report_own(report);
	judge_part(report);
	verdict_make(&report->judged, &report->timeline, &report->judged_by,
		     &report->sampled, report->region_list,
		     report->region_count);
	if (choice->tree)
		scope_tree_build(&report->tree, &report->lanes.table,
				 choice->top);
	report_remark(report);
	return 0;
}

int64_t report_start_ns(const struct report *report)
{
	return report->span_end_ns > report->span_start_ns
		       ? report->span_start_ns
		       : report->start_ns;
}

int64_t report_wall_ns(const struct report *report)
{
	if (report->span_end_ns > report->span_start_ns)
		return saturate_subtract(report->span_end_ns,
					 report->span_start_ns);
	return report->end_ns > report->start_ns
		       ? saturate_subtract(report->end_ns, report->start_ns)
		       : 0;
}

int64_t report_gpu_ns(const struct report *report)
{
	int64_t sum = 0;

	for (size_t at = 0; at < REPORT_DEVICES_MAX; at++)
		for (int work = 0; work < WORK_COUNT; work++)
			saturate_into(&sum, report->devices[at].sum_ns[work]);
	return sum;
}

bool report_is_used(const struct report_device *device)
{
	return device->calls[WORK_KERNEL] || device->calls[WORK_COPY] ||
	       device->calls[WORK_FILL];
}

static int compare_streams(const void *left, const void *right)
{
	const struct report_device *a =
		*(const struct report_device *const *)left;
	const struct report_device *b =
		*(const struct report_device *const *)right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

const struct report_device **report_streams(const struct report *report)
{
	const size_t count = report->streams.count;
	const struct report_device **list = memory_zeroed(count, sizeof(*list));

	for (size_t at = 0; at < count; at++)
		list[at] = key_table_row(&report->streams, at);
	qsort(list, count, sizeof(*list), compare_streams);
	return list;
}

void report_free(struct report *report)
{
	struct report_device *stream;
	struct report_lane *lane;

	timeline_free(&report->ahead);
	verdict_free(&report->judged);
	timeline_free(&report->timeline);
	tally_free(&report->tally);
	tally_free(&report->exact);
	trace_sampled_free(&report->sampled);
	tally_free(&report->side);
	free(report->row.name);
	free(report->row.category);
	region_totals_free(&report->regions);
	report_blas_free(&report->blas);
	report_breaks_free(&report->breaks);
	hot_tasks_free(&report->tasks);
	free(report->region_list);
	for (size_t at = 0; at < REPORT_DEVICES_MAX; at++)
		busy_time_free(&report->devices[at].busy);
	for (size_t at = 0; at < report->streams.count; at++) {
		stream = key_table_row(&report->streams, at);
		busy_time_free(&stream->busy);
	}
	for (size_t at = 0; at < report->lanes.table.count; at++) {
		lane = lane_at(report, (uint32_t)at);
		lane_spans_free(&lane->spans);
		lane_spans_free(&lane->own);
		free(lane->label);
	}
	report_buckets_free(&report->buckets);
	key_table_free(&report->streams);
	report_free_sites(report);
	for (size_t at = 0; at < report->functions.count; at++)
		free(*(char **)key_table_row(&report->functions, at));
	key_table_free(&report->functions);
	trace_lanes_free(&report->lanes);
	scope_tree_free(&report->tree);
	for (size_t at = 0; at < report->note_count; at++)
		free(report->notes[at]);
	free(report->warning);
	for (size_t at = 0; at < report->remark_count; at++)
		free(report->remarks[at]);
	memset(report, 0, sizeof(*report));
}
