/* SPDX-License-Identifier: MIT */
/*
 * page_read.c - a second pass over a file, for what goes over time.
 */
#include "tools/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/communication.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define FACTS_MAX 400u
#define WRITER	  "traceprof writer" /* its slices, and its lane */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum page_class class_of_call(const char *name)
{
	if (strstr(name, "Synchronize"))
		return CLASS_WAIT;
	return strstr(name, "Memcpy") || strstr(name, "Memset") ? CLASS_COPY
								: CLASS_CALL;
}

/* CLASS_NOTHING: it is no use of its lane. */
static enum page_class class_of(const struct trace_event *event)
{
	const char *category = event->field[FIELD_CAT].text;
	const char *name = event->field[FIELD_NAME].text;

	if (begins(name, "ProfilerStep#") || !strcmp(category, "Trace") ||
	    !strcmp(category, "cuda_sync") ||
	    !strcmp(category, "gpu_throttle") ||
	    !strcmp(category, "gpu_user_annotation"))
		return CLASS_NOTHING;
	if (!strcmp(category, "overhead"))
		return CLASS_OURS;
	if (!strcmp(category, "kernel"))
		return is_communication(category, name) ? CLASS_COMM
							: CLASS_KERNEL;
	if (begins(category, "gpu_mem") || !strcmp(category, "unified_memory"))
		return CLASS_COPY;
	if (begins(category, "cuda_"))
		return class_of_call(name);
	if (trace_event_arg(event, "samples").type == TRACE_NUMBER)
		return CLASS_SAMPLED;
	if (is_communication(category, name))
		return CLASS_COMM;
	if (!strcmp(category, "user_annotation") ||
	    !strcmp(category, "python_function"))
		return CLASS_MARKED;
	if (event->pair_count &&
	    trace_event_arg(event, "omp").type == TRACE_STRING) {
		const struct trace_value part = trace_event_arg(event, "omp");

		return trace_value_is(&part, "wait") ||
				       trace_value_is(&part, "waits")
			       ? CLASS_WAIT
			       : CLASS_WORK;
	}
	return strcasestr(category, "wait") ? CLASS_WAIT : CLASS_WORK;
}

struct page_lane *page_lane_at(struct page *page, int64_t pid, int64_t tid,
			       bool is_device)
{
	char key[64];
	struct page_lane *lane;
	const int len =
		snprintf(key, sizeof(key), "%lld %lld%s", (long long)pid,
			 (long long)tid, is_device ? " all" : "");

	lane = key_table_find(&page->lanes, key, (size_t)len);
	if (lane)
		return lane;
	if (page->lanes.count >= PAGE_LANES) {
		page->lanes_left_out++;
		return NULL;
	}
	lane = key_table_row(&page->lanes,
			     key_table_number(&page->lanes, key, (size_t)len));
	lane->pid = pid;
	lane->tid = tid;
	lane->is_device = is_device;
	return lane;
}

/* The first moment at or after a time. */
static size_t moment(const struct page *page, int64_t ns)
{
	const double at = (double)(ns - page->start_ns) * PAGE_SAMPLES /
				  (double)page->wall_ns -
			  0.5;

	return at <= 0		    ? 0
	       : at >= PAGE_SAMPLES ? PAGE_SAMPLES
				    : (size_t)ceil(at);
}

static void mark_moment(struct page_lane *lane, size_t at, float length,
			enum page_class class)
{
	const enum page_class before = lane->classes[at];

	lane->used += before == CLASS_NOTHING;
	/* A sample tells of a moment that no call but a range does. */
	if (class == CLASS_SAMPLED) {
		if (before == CLASS_NOTHING)
			lane->shortest[at] = INFINITY;
		if (before == CLASS_NOTHING || before == CLASS_MARKED)
			lane->classes[at] = CLASS_SAMPLED;
		return;
	}
	if (before != CLASS_NOTHING && lane->shortest[at] < length)
		return;
	lane->shortest[at] = length;
	if (class != CLASS_MARKED || before != CLASS_SAMPLED)
		lane->classes[at] = (unsigned char)class;
}

static void mark(const struct page *page, struct page_lane *lane,
		 const struct trace_event *event, enum page_class class)
{
	const size_t end = moment(page, event->ts_ns + event->dur_ns);

	for (size_t at = moment(page, event->ts_ns); at < end; at++) {
		if (!lane->shortest) {
			lane->shortest =
				memory_zeroed(PAGE_SAMPLES, sizeof(float));
			lane->classes = memory_zeroed(PAGE_SAMPLES, 1);
		}
		mark_moment(lane, at, (float)event->dur_ns, class);
	}
}

bool page_identify(const struct trace_event *event, int64_t *pid, int64_t *tid)
{
	const struct trace_value *field = event->field;

	return !decimal_to_integer(field[FIELD_PID].text, field[FIELD_PID].len,
				   pid) &&
	       !decimal_to_integer(field[FIELD_TID].text, field[FIELD_TID].len,
				   tid);
}

static void on_step(struct page *page, const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct page_step step = {0, event->ts_ns, event->dur_ns};

	if (decimal_to_integer(name->text + 13, name->len - 13, &step.number) ||
	    !trace_value_is(&event->field[FIELD_CAT], "user_annotation"))
		return;
	page->steps = memory_grow(page->steps, page->step_count,
				  &page->step_capacity, sizeof(step));
	page->steps[page->step_count++] = step;
}

static void on_slice(struct page *page, const struct trace_event *event)
{
	const enum page_class class = class_of(event);
	const char *category = event->field[FIELD_CAT].text;
	struct page_lane *lane;
	int64_t pid, tid;
	bool is_gpu, is_ours;

	if (!page_identify(event, &pid, &tid))
		return;
	if (begins(event->field[FIELD_NAME].text, "ProfilerStep#"))
		on_step(page, event);
	if (class == CLASS_NOTHING)
		return;
	is_ours = trace_value_is(&event->field[FIELD_NAME], WRITER);
	is_gpu = !strcmp(category, "kernel") || begins(category, "gpu_mem");
	if (!is_gpu && !is_ours && tid >= PAGE_SIDE_LANES &&
	    class != CLASS_SAMPLED)
		return;
	lane = page_lane_at(
		page, pid, class == CLASS_SAMPLED ? tid % PAGE_SIDE_LANES : tid,
		false);
	if (lane) {
		lane->is_gpu |= is_gpu;
		mark(page, lane, event, class);
	}
	lane = is_gpu ? page_lane_at(page, pid, -1, true) : NULL;
	if (lane)
		mark(page, lane, event, class);
}

static void on_metadata(struct page *page, const struct trace_event *event)
{
	const struct trace_value label = trace_event_arg(event, "name");
	struct text_buffer text = {0};
	struct page_lane *lane;
	int64_t pid, tid;

	if (label.type != TRACE_STRING || !page_identify(event, &pid, &tid) ||
	    (tid >= PAGE_SIDE_LANES && !begins(label.text, WRITER)) ||
	    !trace_value_is(&event->field[FIELD_NAME], "thread_name"))
		return;
	lane = page_lane_at(page, pid, tid, false);
	if (!lane)
		return;
	text_buffer_add_printable(&text, label.text, label.len, 80);
	free(lane->label);
	lane->label = text.data;
}

/* A value of a series at a time. */
static void put(struct page *page, const char *name, bool is_bytes, int64_t ns,
		double value)
{
	struct page_series *series =
		key_table_find(&page->series, name, strlen(name));
	size_t bin = moment(page, ns) * PAGE_BINS / PAGE_SAMPLES;

	if (!series && page->series.count >= PAGE_SERIES * (is_bytes ? 2 : 1)) {
		page->series_left_out = 1;
		return;
	}
	if (!series) {
		series = key_table_row(
			&page->series,
			key_table_number(&page->series, name, strlen(name)));
		series->is_bytes = is_bytes;
		series->peak = INT64_MIN;
		for (size_t at = 0; at < PAGE_BINS; at++)
			series->last[at] = series->high[at] = NAN;
	}
	if (value > (double)series->peak) {
		series->peak = (int64_t)value;
		series->peak_ns = ns;
	}
	if (bin >= PAGE_BINS) {
		if (ns > page->start_ns + page->wall_ns)
			return;
		bin = PAGE_BINS - 1;
	}
	series->high[bin] = fmax(series->high[bin], value);
	if (isnan(series->last[bin]) || ns >= series->last_ns[bin]) {
		series->last[bin] = value;
		series->last_ns[bin] = ns;
	}
}

static void on_memory(struct page *page, const struct trace_event *event)
{
	const bool is_pinned =
		strstr(event->field[FIELD_NAME].text, "pinned") != NULL;
	int64_t type = 0, device = 0, total;
	char name[64] = "heap";

	trace_event_integer(event, "Device Type", &type);
	trace_event_integer(event, "Device Id", &device);
	if (!type && trace_value_is(&event->field[FIELD_NAME], "[memory]")) {
		if (!heap_total_after(&page->heap, event))
			return;
		total = page->heap.bytes;
	} else if (!trace_event_integer(event, "Total Allocated", &total)) {
		return;
	}
	if (type && strstr(event->field[FIELD_NAME].text, "driver"))
		snprintf(name, sizeof(name), "GPU %lld memory of the driver",
			 (long long)device);
	else if (type)
		snprintf(name, sizeof(name), "GPU %lld memory",
			 (long long)device);
	else if (is_pinned)
		strcpy(name, "pinned memory");
	put(page, name, true, event->ts_ns, (double)total);
}

static void on_counter(struct page *page, const struct trace_event *event)
{
	const char *name = event->field[FIELD_NAME].text;
	char full[160];

	for (size_t at = 0; at < event->pair_count; at++) {
		const struct trace_pair *pair = &event->pairs[at];
		const bool is_live = !strcmp(pair->key, "live_bytes");

		if (pair->value.type != TRACE_NUMBER)
			continue;
		snprintf(full, sizeof(full), is_live ? "%.80s" : "%.80s: %.60s",
			 name, pair->key);
		put(page, full, is_live, event->ts_ns,
		    strtod(pair->value.text, NULL));
	}
}

static void on_event(void *arg, const struct trace_event *event)
{
	const struct trace_value *ph = &event->field[FIELD_PH];
	struct page *page = arg;

	if (trace_event_is_slice(event))
		on_slice(page, event);
	else if (trace_value_is(ph, "M"))
		on_metadata(page, event);
	else if (event->ts_state == TIME_ABSENT || event->ts_state == TIME_BAD)
		return;
	else if (trace_value_is(ph, "C")) {
		page_tasks_event(page, event);
		on_counter(page, event);
	} else if (begins(event->field[FIELD_NAME].text, "[memory]"))
		on_memory(page, event);
}

/* What the file says of itself, but for its long lists. */
static void on_entry(void *arg, const struct trace_entry *entry)
{
	static const char *const lists[] = {
		"traceprof.totals.", "traceprof.sampled.", "traceprof.modules.",
		"traceprof.stacks.", "traceprof.notes.",
	};
	struct page *page = arg;

	for (size_t at = 0; at < sizeof(lists) / sizeof(lists[0]); at++)
		if (begins(entry->path, lists[at]))
			return;
	if (entry->value.type == TRACE_OBJECT ||
	    entry->value.type == TRACE_ARRAY || page->fact_count >= FACTS_MAX)
		return;
	text_buffer_add_printable(&page->facts, entry->path,
				  strlen(entry->path), 200);
	text_buffer_add(&page->facts, "", 1);
	text_buffer_add_printable(&page->facts, entry->value.text,
				  entry->value.len, 300);
	text_buffer_add(&page->facts, "", 1);
	page->fact_count++;
}

static int compare_steps(const void *left, const void *right)
{
	const struct page_step *a = left, *b = right;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

int page_read(struct page *page, const char *file)
{
	const struct trace_sink sink = {on_event, on_entry, page};
	const struct report_choice choice = {.order = ORDER_TOTAL,
					     .tree = true};
	int error;

	*page = (struct page){
		.lanes = {.row_bytes = sizeof(struct page_lane)},
		.series = {.row_bytes = sizeof(struct page_series)},
	};
	error = report_read(&page->report, file, &choice);
	if (error)
		return error;
	page->start_ns = report_start_ns(&page->report);
	page->wall_ns = report_wall_ns(&page->report);
	if (page->wall_ns < 1)
		page->wall_ns = 1;
	error = trace_read(file, &sink, &page->report.facts);
	page_tasks_end(page);
	if (!error && page->step_count)
		qsort(page->steps, page->step_count, sizeof(*page->steps),
		      compare_steps);
	if (!error && page->series.count)
		page->holders = page_holders(file);
	return error;
}

static bool is_writer(const struct page_lane *lane)
{
	return lane->label && begins(lane->label, WRITER);
}

static int compare_lanes(const void *left, const void *right)
{
	const struct page_lane *a = *(const struct page_lane *const *)left;
	const struct page_lane *b = *(const struct page_lane *const *)right;

	if (a->is_gpu != b->is_gpu)
		return a->is_gpu ? -1 : 1;
	if (a->is_gpu && a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->is_device != b->is_device)
		return a->is_device ? -1 : 1;
	if (is_writer(a) != is_writer(b))
		return is_writer(a) ? 1 : -1;
	if (a->used != b->used)
		return a->used > b->used ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

const struct page_lane **page_lanes(const struct page *page, size_t *count)
{
	const struct page_lane **list =
		memory_zeroed(page->lanes.count + 1, sizeof(*list));

	*count = 0;
	for (size_t at = 0; at < page->lanes.count; at++) {
		struct page_lane *lane = key_table_row(&page->lanes, at);

		lane->is_gpu |= lane->is_device;
		if (lane->used)
			list[(*count)++] = lane;
	}
	qsort(list, *count, sizeof(*list), compare_lanes);
	return list;
}

void page_free(struct page *page)
{
	for (size_t at = 0; at < page->lanes.count; at++) {
		struct page_lane *lane = key_table_row(&page->lanes, at);

		free(lane->label);
		free(lane->shortest);
		free(lane->classes);
	}
	key_table_free(&page->lanes);
	key_table_free(&page->series);
	free(page->steps);
	free(page->holders);
	text_buffer_free(&page->facts);
	report_free(&page->report);
}
