/* SPDX-License-Identifier: MIT */
/*
 * run_timeline.c - gathers what a trace tells, event by event.
 */
#include "tools/model/run_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/module_name.h"
#include "tools/util/numbers.h"

#define STEP	     "ProfilerStep#"
#define STEP_CHARS   (sizeof(STEP) - 1)
#define HEAP_SAMPLES 65536u
#define LARGE_BYTES  (32 << 20) /* glibc always maps and unmaps such blocks */
#define SOON_NS	     1000000000
#define MODULE_BYTES 256

struct large_block {
	int64_t bytes, ns;
};

struct long_key {
	int64_t start_ns;
	uint32_t lane, name;
};

void timeline_begin(struct timeline *timeline)
{
	*timeline = (struct timeline){
		.names = {.row_bytes = sizeof(struct timeline_name)},
		.lanes = {.table = {.row_bytes = sizeof(struct timeline_lane)}},
		.work_rows = {.row_bytes = sizeof(struct gpu_row)},
		.long_durs = {.row_bytes = sizeof(int64_t)},
		.blocks = {.row_bytes = sizeof(struct large_block)},
		.heap_stride = 1,
		.start_ns = INT64_MAX,
		.from_ns = INT64_MIN,
		.end_ns = INT64_MIN,
	};
}

struct timeline_lane *timeline_lane(const struct timeline *timeline,
				    uint32_t lane)
{
	return key_table_row(&timeline->lanes.table, lane);
}

const char *timeline_category(const struct timeline *timeline, uint32_t name)
{
	return key_table_key(&timeline->names, name, NULL);
}

const struct timeline_name *timeline_find(const struct timeline *timeline,
					  const char *category,
					  const char *name)
{
	struct text_buffer key = {0};
	const struct timeline_name *row;

	text_buffer_add(&key, category, strlen(category) + 1);
	text_buffer_add(&key, name, strlen(name));
	row = key_table_find(&timeline->names, key.data, key.len);
	text_buffer_free(&key);
	return row;
}

static int64_t long_ns(const struct timeline *timeline, int64_t start_ns,
		       uint32_t lane, uint32_t name)
{
	const struct long_key key = {start_ns, lane, name};
	const int64_t *dur_ns =
		key_table_find(&timeline->long_durs, &key, sizeof(key));

	return dur_ns ? *dur_ns : UINT32_MAX;
}

int64_t timeline_dur_ns(const struct timeline *timeline, uint32_t lane,
			const struct span *span)
{
	return span->dur < UINT32_MAX
		       ? span->dur
		       : long_ns(timeline, span->start_ns, lane, span->name);
}

int64_t timeline_work_ns(const struct timeline *timeline,
			 const struct gpu_work *work)
{
	return work->dur < UINT32_MAX ? work->dur
				      : long_ns(timeline, work->start_ns,
						TIMELINE_NONE, work->row);
}

/* Its slice is a span of the lane, by the same name. */
int64_t timeline_launch_ns(const struct timeline *timeline, uint32_t lane,
			   const struct launch *launch)
{
	return launch->dur < UINT32_MAX ? launch->dur
					: long_ns(timeline, launch->start_ns,
						  lane, launch->name);
}

const struct gpu_row *timeline_row(const struct timeline *timeline,
				   const struct gpu_work *work)
{
	return key_table_row(&timeline->work_rows, work->row);
}

static const char *category_of(const struct trace_event *event)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	if (trace_value_is(&part, "task"))
		return TIMELINE_MEMBERS;
	if (trace_value_is(&part, "wait") || trace_value_is(&part, "waits"))
		return TIMELINE_WAITS;
	return event->field[FIELD_CAT].text;
}

/* The innermost frame of a stack. */
static void take_site(struct timeline_name *row,
		      const struct trace_event *event)
{
	const struct trace_value stack = trace_event_arg(event, "Call stack");
	struct text_buffer text = {0};

	if (row->site || stack.type != TRACE_STRING || !stack.len)
		return;
	text_buffer_add_printable(&text, stack.text, strcspn(stack.text, ";"),
				  100);
	row->site = text.data;
}

/* Of a function that samples met: is it CPython's, whatever its name? */
static void take_file(struct timeline_name *row,
		      const struct trace_event *event)
{
	struct trace_value at;

	if (!timeline_is_sample(row->host) || row->is_python)
		return;
	at = trace_event_arg(event, "at");
	if (at.type != TRACE_STRING)
		return;
	row->is_python = !strncmp(at.text, "python3", 7) ||
			 !strncmp(at.text, "libpython", 9);
	row->is_runtime |= timeline_is_runtime(at.text);
}

/* Calls of CUDA are told apart by where they are made, too. */
static void add_site(struct text_buffer *key, const struct trace_event *event)
{
	const struct trace_value stack = trace_event_arg(event, "Call stack");

	if (stack.type != TRACE_STRING || !stack.len)
		return;
	text_buffer_add(key, "", 1);
	text_buffer_add(key, stack.text, strcspn(stack.text, ";"));
}

/* What a wait took beside the tasks that its thread ran in it. */
static int64_t without_tasks(const struct trace_event *event)
{
	const struct trace_value tasks = trace_event_arg(event, "tasks_us");
	int64_t ns = 0;

	if (tasks.type == TRACE_NUMBER &&
	    !decimal_to_ns(tasks.text, tasks.len, &ns) && ns > 0 &&
	    ns < event->dur_ns)
		return event->dur_ns - ns;
	return event->dur_ns;
}

static uint32_t name_of(struct timeline *timeline,
			const struct trace_event *event, const char *category)
{
	const struct trace_value *text = &event->field[FIELD_NAME];
	struct text_buffer *key = &timeline->key;
	const size_t before = timeline->names.count;
	struct timeline_name *row;
	char module[MODULE_BYTES];
	const char *place = "";
	uint32_t number;

	text_buffer_cut(key, 0);
	text_buffer_add(key, category, strlen(category) + 1);
	if (!strcmp(category, "cpu_sample") &&
	    module_name(text->text, module, sizeof(module)))
		text_buffer_add(key, module, strlen(module));
	else
		text_buffer_add(key, text->text, text->len);
	if (!strncmp(category, "cuda_", 5))
		add_site(key, event);
	if (!strcmp(category, "wait")) {
		place = wait_places_event(&timeline->waits, event);
		text_buffer_add(key, "", 1);
		text_buffer_add(key, place, strlen(place));
	}
	number = key_table_number(&timeline->names, key->data, key->len);
	row = timeline_name(timeline, number);
	if (timeline->names.count > before) {
		row->text = key_table_key(&timeline->names, number, NULL) +
			    strlen(category) + 1;
		row->is_lock = timeline_is_lock(row->text);
		row->is_gpu = timeline_gpu_kind(event, category, &row->gpu);
		row->host = timeline_host_kind(event, category);
		row->is_runtime = timeline_is_runtime(row->text);
		row->is_spin = timeline_is_spin(row->text);
		row->site = *place ? strdup(place) : NULL;
	}
	row->calls++;
	saturate_into(&row->sum_ns, strcmp(category, TIMELINE_WAITS)
					    ? event->dur_ns
					    : without_tasks(event));
	if (row->calls == 1 || event->dur_ns > row->longest_ns) {
		row->longest_ns = event->dur_ns;
		row->longest_at_ns = event->ts_ns;
	}
	return number;
}

static uint32_t short_of(int64_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* The duration as it is kept: a long one in a table beside. */
static uint32_t dur_of(struct timeline *timeline,
		       const struct trace_event *event, uint32_t lane,
		       uint32_t name)
{
	const struct long_key key = {event->ts_ns, lane, name};
	int64_t *dur_ns;

	if (event->dur_ns < UINT32_MAX)
		return (uint32_t)event->dur_ns;
	dur_ns = key_table_row(
		&timeline->long_durs,
		key_table_number(&timeline->long_durs, &key, sizeof(key)));
	if (event->dur_ns > *dur_ns)
		*dur_ns = event->dur_ns;
	return UINT32_MAX;
}

/* A share of the SMs that a kernel has nothing for, from 0 to 1. */
static double lacking(const struct trace_event *event)
{
	const struct trace_value blocks =
		trace_event_arg(event, "blocks per SM");
	int64_t share; /* in thousandths */

	if (blocks.type != TRACE_NUMBER ||
	    decimal_to_ns(blocks.text, blocks.len, &share) < 0)
		return 0;
	return share > 0 && share < 1000 ? 1 - (double)share / 1000 : 0;
}

/* Of work of that name, on the stream that the event is on. */
static uint32_t work_row(struct timeline *timeline,
			 const struct trace_event *event, uint32_t name)
{
	int64_t key[3] = {name, 0, 0};
	const size_t before = timeline->work_rows.count;
	struct gpu_row *row;
	uint32_t number;

	if (!trace_event_integer(event, "device", &key[1]))
		trace_event_integer(event, "inDevice", &key[1]);
	trace_event_integer(event, "stream", &key[2]);
	number = key_table_number(&timeline->work_rows, key, sizeof(key));
	if (timeline->work_rows.count == before)
		return number;
	row = key_table_row(&timeline->work_rows, number);
	row->name = name;
	row->stream = key_table_number(&timeline->streams, &key[1],
				       2 * sizeof(key[1]));
	row->kind = timeline_name(timeline, name)->gpu;
	return number;
}

static void on_work(struct timeline *timeline, const struct trace_event *event,
		    uint32_t number)
{
	struct timeline_name *row = timeline_name(timeline, number);
	int64_t correlation = 0, bytes = 0;
	struct gpu_work work = {.start_ns = event->ts_ns,
				.row = work_row(timeline, event, number)};

	trace_event_integer(event, "correlation", &correlation);
	trace_event_integer(event, "bytes", &bytes);
	saturate_into(&row->bytes, bytes);
	row->idle_ns += lacking(event) * (double)event->dur_ns;
	work.dur = dur_of(timeline, event, TIMELINE_NONE, work.row);
	work.correlation = (uint32_t)correlation;
	work.bytes = short_of(bytes);
	timeline->work = memory_grow(timeline->work, timeline->work_count,
				     &timeline->work_capacity, sizeof(work));
	timeline->work[timeline->work_count++] = work;
}

static void on_launch(struct timeline *timeline,
		      const struct trace_event *event, uint32_t lane,
		      uint32_t number)
{
	const struct timeline_name *row = timeline_name(timeline, number);
	struct timeline_lane *thread = timeline_lane(timeline, lane);
	int64_t correlation;

	if ((row->host != HOST_LAUNCH && row->host != HOST_COPY) ||
	    !trace_event_integer(event, "correlation", &correlation))
		return;
	thread->launches = memory_grow(thread->launches, thread->launch_count,
				       &thread->launch_capacity,
				       sizeof(*thread->launches));
	thread->launches[thread->launch_count++] = (struct launch){
		.start_ns = event->ts_ns,
		.dur = short_of(event->dur_ns),
		.correlation = (uint32_t)correlation,
		.name = number,
		.op = TIMELINE_NONE,
	};
}

static void on_step(struct timeline *timeline, const struct trace_event *event,
		    uint32_t lane)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct timeline_step step = {.start_ns = event->ts_ns,
				     .dur_ns = event->dur_ns,
				     .lane = lane,
				     .live_bytes = -1};
	const struct trace_value finished = trace_event_arg(event, "finished");

	step.is_cut = trace_value_is(&finished, "false");
	if (decimal_to_integer(name->text + STEP_CHARS, name->len - STEP_CHARS,
			       &step.number))
		return;
	timeline->steps = memory_grow(timeline->steps, timeline->step_count,
				      &timeline->step_capacity, sizeof(step));
	timeline->steps[timeline->step_count++] = step;
}

/* Samples alone tell it. */
static void add_self(struct timeline *timeline, const struct trace_event *event,
		     uint32_t lane_number)
{
	struct timeline_lane *lane = timeline_lane(timeline, lane_number);
	const struct trace_value self = trace_event_arg(event, "self_us");
	struct self_time_of of = {event->ts_ns, 0};

	if (self.type != TRACE_NUMBER ||
	    decimal_to_ns(self.text, self.len, &of.self_ns) < 0 ||
	    of.self_ns <= 0)
		return;
	lane->selves = memory_grow(lane->selves, lane->self_count,
				   &lane->self_capacity, sizeof(of));
	lane->selves[lane->self_count++] = of;
}

static void add_span(struct timeline *timeline, const struct trace_event *event,
		     uint32_t lane_number, uint32_t name)
{
	struct timeline_lane *lane = timeline_lane(timeline, lane_number);
	const struct span span = {
		event->ts_ns, dur_of(timeline, event, lane_number, name), name};

	lane->spans = memory_grow(lane->spans, lane->count, &lane->capacity,
				  sizeof(span));
	lane->spans[lane->count++] = span;
}

/* A member's work, for who never has any; waits are taken off again. */
static void on_part(struct timeline *timeline, const struct trace_event *event,
		    uint32_t lane_number, const char *category)
{
	struct timeline_lane *lane = timeline_lane(timeline, lane_number);
	const struct trace_value schedule = trace_event_arg(event, "schedule");
	const bool is_league = schedule.type == TRACE_STRING &&
			       !strcmp(schedule.text, "teams");
	int64_t team = 0, part;

	if (!strcmp(category, TIMELINE_MEMBERS)) {
		lane->parts++;
		saturate_into(&lane->work_ns, event->dur_ns);
	} else if (!strcmp(category, TIMELINE_WAITS) &&
		   trace_event_integer(event, "team", &part)) {
		lane->work_ns = saturate_subtract(lane->work_ns, event->dur_ns);
	}
	/* gcc's runtime has one thread for all teams of a league: they run in
	 * turn. */
	if (trace_event_integer(event, "team", &team) && is_league && team > 1)
		team = 1;
	if (team > timeline->team_max)
		timeline->team_max = team;
	if (schedule.type == TRACE_STRING)
		snprintf(timeline->schedule, sizeof(timeline->schedule), "%s",
			 schedule.text);
}

static void on_throttling(struct timeline *timeline,
			  const struct trace_event *event)
{
	const char *name = event->field[FIELD_NAME].text;

	saturate_into(&timeline->throttled_ns, event->dur_ns);
	snprintf(timeline->throttling, sizeof(timeline->throttling), "%s",
		 strncmp(name, "throttled: ", 11) ? name : name + 11);
}

/* Most categories are told apart by their length. */
static bool is_beside(const struct trace_value *category)
{
	return trace_value_is(category, "Trace") ||
	       trace_value_is(category, "overhead") ||
	       trace_value_is(category, "gpu_user_annotation") ||
	       trace_value_is(category, "cuda_sync") ||
	       trace_value_is(category, "cuda_event") ||
	       trace_value_is(category, "gpu_throttle") ||
	       trace_value_is(category, "unified_memory");
}

bool timeline_is_beside(const char *category)
{
	const struct trace_value value = {TRACE_STRING, category,
					  strlen(category)};

	return is_beside(&value);
}

static void on_beside(struct timeline *timeline,
		      const struct trace_event *event, int64_t end_ns)
{
	const struct trace_value *category = &event->field[FIELD_CAT];

	if (trace_value_is(category, "gpu_throttle"))
		on_throttling(timeline, event);
	if (!trace_value_is(category, "Trace"))
		return;
	if (end_ns > timeline->recorded_ns)
		timeline->recorded_ns = end_ns;
	if (!timeline->began_ns || event->ts_ns < timeline->began_ns)
		timeline->began_ns = event->ts_ns;
}

/* A region that a member of a team of several begins: one by one, since what
 * has several threads elsewhere may have one there. */
static void take_nested(struct timeline_name *row,
			const struct trace_event *event)
{
	int64_t team;

	if ((row->host == HOST_OMP || row->host == HOST_OMP_TEAM) &&
	    trace_event_arg(event, "nested").type == TRACE_BOOLEAN &&
	    trace_event_integer(event, "team", &team) &&
	    team > row->nested_team)
		row->nested_team = team;
}

/* What XLA says of a thread lies on a lane beside it, since it comes later, and
 * is what the thread does. */
static uint32_t lane_of(struct timeline *timeline,
			const struct trace_event *event)
{
	const struct trace_value *tid = &event->field[FIELD_TID];
	struct trace_event moved;
	size_t zeros = 2;

	/* That lane is number 21 of those that are 10,000,000 apart. */
	if (tid->len != 9 || tid->text[0] != '2' || tid->text[1] != '1')
		return trace_lanes_number(&timeline->lanes, event);
	while (zeros < tid->len - 1 && tid->text[zeros] == '0')
		zeros++;
	moved = *event;
	moved.field[FIELD_TID].text += zeros;
	moved.field[FIELD_TID].len -= zeros;
	return trace_lanes_number(&timeline->lanes, &moved);
}

static void on_slice(struct timeline *timeline, const struct trace_event *event)
{
	const char *category = category_of(event);
	const int64_t end_ns = event->ts_ns + event->dur_ns;
	uint32_t lane, name;

	if (is_beside(&event->field[FIELD_CAT])) {
		on_beside(timeline, event, end_ns);
		return;
	}
	if (timeline->slices == TIMELINE_SLICES_MAX) {
		timeline->left_out++;
		return;
	}
	timeline->slices++;
	if (event->ts_ns < timeline->start_ns)
		timeline->start_ns = event->ts_ns;
	if (end_ns > timeline->end_ns)
		timeline->end_ns = end_ns;
	lane = lane_of(timeline, event);
	name = name_of(timeline, event, category);
	if (timeline_name(timeline, name)->longest_at_ns == event->ts_ns)
		timeline_name(timeline, name)->longest_lane = lane;
	if (timeline_name(timeline, name)->is_gpu) {
		on_work(timeline, event, name);
		return;
	}
	if (timeline_name(timeline, name)->host == HOST_STEP &&
	    !strncmp(event->field[FIELD_NAME].text, STEP, STEP_CHARS)) {
		on_step(timeline, event, lane);
		return;
	}
	if (strcmp(category, "wait"))
		take_site(timeline_name(timeline, name), event);
	take_file(timeline_name(timeline, name), event);
	take_nested(timeline_name(timeline, name), event);
	on_part(timeline, event, lane, category);
	on_launch(timeline, event, lane, name);
	if (trace_value_is(&event->field[FIELD_CAT], "cpu_op"))
		called_lines_event(&timeline->called, event, lane, name);
	add_self(timeline, event, lane);
	add_span(timeline, event, lane, name);
}

/* Every so many of them, so that their number is bounded. */
static void take_heap(struct timeline *timeline, int64_t ns, int64_t bytes)
{
	size_t kept = 0;

	if (!timeline->heap)
		timeline->heap =
			memory_zeroed(HEAP_SAMPLES, sizeof(*timeline->heap));
	if (timeline->heap_seen++ % timeline->heap_stride)
		return;
	if (timeline->heap_count == HEAP_SAMPLES) {
		for (size_t at = 0; at < HEAP_SAMPLES; at += 2)
			timeline->heap[kept++] = timeline->heap[at];
		timeline->heap_count = kept;
		timeline->heap_stride *= 2;
	}
	timeline->heap[timeline->heap_count++] =
		(struct heap_sample){ns, bytes};
}

/* A large block that is freed at once came from the kernel and went back. */
static void on_block(struct timeline *timeline, const struct trace_event *event,
		     int64_t bytes)
{
	struct large_block *block;
	int64_t address;

	if ((bytes < LARGE_BYTES && bytes > -LARGE_BYTES) ||
	    !trace_event_integer(event, "Addr", &address))
		return;
	block = key_table_row(
		&timeline->blocks,
		key_table_number(&timeline->blocks, &address, sizeof(address)));
	if (bytes > 0) {
		*block = (struct large_block){bytes, event->ts_ns};
		return;
	}
	if (block->bytes && event->ts_ns - block->ns < SOON_NS) {
		timeline->large_blocks++;
		saturate_into(&timeline->large_bytes, block->bytes);
		timeline->large_at_ns = block->ns;
	}
	block->bytes = 0;
}

static void on_memory(struct timeline *timeline,
		      const struct trace_event *event)
{
	int64_t type = 0, bytes;

	trace_event_integer(event, "Device Type", &type);
	if (type)
		return;
	if (heap_total_after(&timeline->heap_total, event))
		take_heap(timeline, event->ts_ns, timeline->heap_total.bytes);
	if (trace_event_integer(event, "Bytes", &bytes))
		on_block(timeline, event, bytes);
}

static void on_label(struct timeline *timeline, const struct trace_event *event)
{
	const struct trace_value label = trace_event_arg(event, "name");
	struct text_buffer text = {0};
	struct timeline_lane *lane;

	if (label.type != TRACE_STRING ||
	    !trace_value_is(&event->field[FIELD_NAME], "thread_name"))
		return;
	lane = timeline_lane(timeline,
			     trace_lanes_number(&timeline->lanes, event));
	text_buffer_add_printable(&text, label.text, label.len, 60);
	free(lane->label);
	lane->label = text.data;
}

void timeline_event(struct timeline *timeline, const struct trace_event *event)
{
	const struct trace_value *ph = &event->field[FIELD_PH];
	const struct trace_value *name = &event->field[FIELD_NAME];
	int64_t live;

	if (trace_event_is_slice(event))
		on_slice(timeline, event);
	else if (trace_value_is(ph, "M"))
		on_label(timeline, event);
	else if (trace_value_is(name, "[memory]"))
		on_memory(timeline, event);
	else if (trace_value_is(ph, "C") && trace_value_is(name, "heap") &&
		 trace_event_integer(event, "live_bytes", &live))
		take_heap(timeline, event->ts_ns, live);
}

void timeline_free(struct timeline *timeline)
{
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		free(timeline_lane(timeline, at)->spans);
		free(timeline_lane(timeline, at)->launches);
		free(timeline_lane(timeline, at)->selves);
		free(timeline_lane(timeline, at)->label);
	}
	for (uint32_t at = 0; at < timeline->names.count; at++)
		free(timeline_name(timeline, at)->site);
	called_lines_free(&timeline->called);
	wait_places_free(&timeline->waits);
	key_table_free(&timeline->names);
	trace_lanes_free(&timeline->lanes);
	key_table_free(&timeline->streams);
	key_table_free(&timeline->work_rows);
	key_table_free(&timeline->long_durs);
	key_table_free(&timeline->blocks);
	text_buffer_free(&timeline->key);
	free(timeline->work);
	free(timeline->places);
	free(timeline->steps);
	free(timeline->heap);
	memset(timeline, 0, sizeof(*timeline));
}
