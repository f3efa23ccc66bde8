/* SPDX-License-Identifier: MIT */
/*
 * report.c - one pass over a file, everything added up.
 */
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/decimal.h"
#include "tools/util/memory.h"
#include "tools/util/saturate.h"

static uint32_t lane_of(struct report *report, const struct trace_event *event)
{
	struct text_buffer *text = &report->scratch;

	text_buffer_cut(text, 0);
	text_buffer_add_printable(text, event->field[FIELD_PID].text,
				  event->field[FIELD_PID].len, 60);
	text_buffer_add(text, " ", 1);
	text_buffer_add_printable(text, event->field[FIELD_TID].text,
				  event->field[FIELD_TID].len, 60);
	return name_table_number(&report->lanes, text->data, text->len);
}

static int device_of(const struct trace_event *event, const char *arg)
{
	int64_t device;

	if (!trace_event_integer(event, arg, &device) || device < 0 ||
	    device >= REPORT_DEVICES_MAX)
		return -1;
	return (int)device;
}

static void on_step(struct report *report, const struct trace_event *event)
{
	struct report_steps *steps = &report->steps;
	const struct trace_value *name = &event->field[FIELD_NAME];
	int64_t number;

	if (decimal_to_integer(name->text + 13, name->len - 13, &number))
		return;
	if (!steps->count || event->dur_ns < steps->min_ns)
		steps->min_ns = event->dur_ns;
	if (!steps->count || event->dur_ns > steps->max_ns) {
		steps->max_ns = event->dur_ns;
		steps->slowest = number;
	}
	steps->count++;
	saturate_into(&steps->total_ns, event->dur_ns);
}

/* A copy between devices names three of them. */
static int device_of_work(const struct trace_event *event)
{
	const int device = device_of(event, "device");

	return device < 0 ? device_of(event, "inDevice") : device;
}

static void on_gpu(struct report *report, const struct trace_event *event,
		   const char *category)
{
	static const char *const works[] = {"kernel", "gpu_memcpy",
					    "gpu_memset"};
	const int device = device_of_work(event);
	enum stream_work work = STREAM_KERNEL;
	struct report_device *at;

	while (work < STREAM_WORKS && strcmp(category, works[work]) != 0)
		work++;
	if (work == STREAM_WORKS || device < 0)
		return;
	at = &report->devices[device];
	at->used = true;
	busy_time_add(&at->busy, event->ts_ns, event->ts_ns + event->dur_ns);
	saturate_into(&at->sum_ns[work], event->dur_ns);
	stream_totals_add(&report->streams, (unsigned int)device, work, event);
}

static const char *category_of(struct report *report,
			       const struct trace_event *event)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	region_totals_event(&report->regions, event);
	if (trace_value_is(&part, "task"))
		return REPORT_MEMBERS;
	if (trace_value_is(&part, "wait"))
		return REPORT_WAITS;
	return event->field[FIELD_CAT].text;
}

/* All steps are one node of the tree. */
static void add_scope(struct report *report, const struct trace_event *event,
		      int64_t end_ns)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	const bool is_step = !strncmp(name->text, "ProfilerStep#", 13);

	scope_tree_add(&report->tree, lane_of(report, event),
		       is_step ? "ProfilerStep#*" : name->text,
		       is_step ? 14 : name->len, event->ts_ns, end_ns);
}

static void on_slice(struct report *report, const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	const int64_t end_ns = event->ts_ns + event->dur_ns;
	const char *category = category_of(report, event);
	int64_t bytes = 0;

	if (!strcmp(category, "Trace"))
		return;
	if (event->ts_ns < report->start_ns)
		report->start_ns = event->ts_ns;
	if (end_ns > report->end_ns)
		report->end_ns = end_ns;
	if (report->choice.tree)
		add_scope(report, event, end_ns);
	if (!strncmp(name->text, "ProfilerStep#", 13)) {
		if (!strcmp(category, "user_annotation"))
			on_step(report, event);
		return;
	}
	on_gpu(report, event, category);
	trace_event_integer(event, "bytes", &bytes);
	tally_add(&report->tally, category, name->text, name->len,
		  event->dur_ns, bytes > 0 ? (uint64_t)bytes : 0);
}

static void on_memory(struct report *report, const struct trace_event *event)
{
	struct report_memory *memory = &report->heap_events;
	int64_t bytes, type = 0, total;
	int device;

	if (!trace_event_integer(event, "Bytes", &bytes))
		return;
	trace_event_integer(event, "Device Type", &type);
	if (type) {
		device = device_of(event, "Device Id");
		if (device < 0)
			return;
		memory = &report->devices[device].memory;
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
}

/* Remembers the names of threads, for the tree. */
static void on_metadata(struct report *report, const struct trace_event *event)
{
	const struct trace_value label = trace_event_arg(event, "name");
	uint32_t lane;

	if (!report->choice.tree || label.type != TRACE_STRING ||
	    !trace_value_is(&event->field[FIELD_NAME], "thread_name"))
		return;
	lane = lane_of(report, event);
	text_buffer_cut(&report->scratch, 0);
	text_buffer_format(&report->scratch, "%u ", lane);
	text_buffer_add_printable(&report->scratch, label.text, label.len, 100);
	name_table_number(&report->lane_labels, report->scratch.data,
			  report->scratch.len);
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct report *report = arg;
	const struct trace_value *ph = &event->field[FIELD_PH];
	const bool timed =
		event->ts_state == TIME_GOOD || event->ts_state == TIME_FINE;

	if (trace_value_is(ph, "M"))
		on_metadata(report, event);
	else if (trace_value_is(ph, "i") &&
		 trace_value_is(&event->field[FIELD_NAME], "[memory]"))
		on_memory(report, event);
	else if (trace_value_is(ph, "X") && timed && event->dur_ns >= 0 &&
		 event->ts_ns <= INT64_MAX - event->dur_ns)
		on_slice(report, event);
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	report_metadata(arg, entry);
}

int report_read(struct report *report, const char *file,
		const struct report_choice *choice)
{
	const struct trace_sink sink = {on_event, on_entry, report};
	int error;

	memset(report, 0, sizeof(*report));
	report->file = file;
	report->choice = *choice;
	report->start_ns = INT64_MAX;
	report->end_ns = INT64_MIN;
	report->account =
		(struct event_account){-1, -1, -1, -1, -1, -1, 0, -1, 0};
	report->heap = (struct report_heap){-1, -1, -1, -1, -1};
	report->detail_ended_ns = -1;
	error = trace_read(file, &sink, &report->facts);
	if (error)
		return error;
	report_metadata_end(report);
	stream_totals_sort(&report->streams);
	report->region_list =
		region_totals_list(&report->regions, &report->region_count);
	if (choice->tree)
		scope_tree_build(&report->tree, &report->lanes, choice->top);
	report_verdict(report);
	return 0;
}

int64_t report_wall_ns(const struct report *report)
{
	return report->end_ns > report->start_ns
		       ? saturate_subtract(report->end_ns, report->start_ns)
		       : 0;
}

int64_t report_gpu_ns(const struct report *report)
{
	int64_t sum = 0;

	for (size_t at = 0; at < REPORT_DEVICES_MAX; at++)
		for (int work = 0; work < STREAM_WORKS; work++)
			saturate_into(&sum, report->devices[at].sum_ns[work]);
	return sum;
}

void report_free(struct report *report)
{
	tally_free(&report->tally);
	tally_free(&report->exact);
	report_metadata_free(report);
	region_totals_free(&report->regions);
	free(report->region_list);
	for (size_t at = 0; at < REPORT_DEVICES_MAX; at++)
		busy_time_free(&report->devices[at].busy);
	stream_totals_free(&report->streams);
	scope_tree_free(&report->tree);
	name_table_free(&report->lanes);
	name_table_free(&report->lane_labels);
	text_buffer_free(&report->scratch);
	for (size_t at = 0; at < report->note_count; at++)
		free(report->notes[at]);
	for (size_t at = 0; at < report->verdict_count; at++)
		free(report->verdict[at]);
	memset(report, 0, sizeof(*report));
}
