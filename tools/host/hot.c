/* SPDX-License-Identifier: MIT */
/* hot.c - a tree of calls from slices of samples; see hot.h. */
#include "tools/host/hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/host/hot_lines.h"
#include "tools/trace/trace_metadata.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/memory.h"
#include "tools/util/module_name.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

#define DEPTH_MAX      256u
#define NAME_MAX_BYTES 512

/* A slice, in whatever order the file has them. */
struct hot_slice {
	uint32_t lane, name;
	int64_t start_ns, end_ns;
	int64_t self_ns, samples;
	double idle;	 /* of self_ns, while the GPU was idle: 0 to 1 */
	uint32_t places; /* in reading->places, HOT_NONE: none */
};

struct hot_reading {
	struct hot *hot;
	struct trace_lanes lanes;
	struct trace_metadata metadata; /* of the last file */
	struct hot_slice *slices;
	struct hot_gpu gpu; /* of the last file */
	size_t count, capacity;
	struct hot_lines *lines; /* NULL: functions as a whole */
	struct key_table places; /* "libx.so 0x1234:5" */
};

/* "/a/b/file.py(12): work" is "work (file.py)", or with its line. */
static size_t python_name(const char *text, bool by_line, char *name,
			  size_t bytes)
{
	const char *colon = strrchr(text, ':');
	const char *paren = colon;
	const char *file = text;

	while (paren && paren > text && *paren != '(')
		paren--;
	if (!colon || !paren || *paren != '(' || colon[1] != ' ')
		return (size_t)snprintf(name, bytes, "%s", text);
	for (const char *at = text; at < paren; at++) {
		if (*at == '/')
			file = at + 1;
	}
	if (by_line)
		return (size_t)snprintf(name, bytes, "%s (%.*s:%d)", colon + 2,
					(int)(paren - file), file,
					atoi(paren + 1));
	return (size_t)snprintf(name, bytes, "%s (%.*s)", colon + 2,
				(int)(paren - file), file);
}

static uint32_t name_of(struct hot *hot, const struct trace_event *event)
{
	const struct trace_value *text = &event->field[FIELD_NAME];
	char name[NAME_MAX_BYTES];
	size_t len;

	if (trace_value_is(&event->field[FIELD_CAT], "python_function"))
		len = python_name(text->text, hot->by_line, name, sizeof(name));
	else if (hot->by_line ||
		 !(len = module_name(text->text, name, sizeof(name))))
		return key_table_number(&hot->names, text->text, text->len);
	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	return key_table_number(&hot->names, name, len);
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct hot_reading *reading = arg;
	const struct trace_value *category = &event->field[FIELD_CAT];
	const struct trace_value self = trace_event_arg(event, "self_us");
	const struct trace_value places = trace_event_arg(event, "at");
	struct hot_slice slice;

	if (!trace_event_is_slice(event))
		return;
	hot_gpu_event(&reading->gpu, event);
	if (self.type != TRACE_NUMBER ||
	    (!trace_value_is(category, "cpu_sample") &&
	     !trace_value_is(category, "python_function")))
		return;
	slice.lane = trace_lanes_number(&reading->lanes, event);
	slice.name = name_of(reading->hot, event);
	slice.start_ns = event->ts_ns;
	slice.end_ns = event->ts_ns + event->dur_ns;
	slice.samples = 0;
	slice.self_ns = 0;
	slice.idle = 0;
	slice.places = HOT_NONE;
	if (reading->lines && places.type == TRACE_STRING)
		slice.places = key_table_number(&reading->places, places.text,
						places.len);
	decimal_to_ns(self.text, self.len, &slice.self_ns);
	trace_event_integer(event, "samples", &slice.samples);
	reading->slices = memory_grow(reading->slices, reading->count,
				      &reading->capacity, sizeof(slice));
	reading->slices[reading->count++] = slice;
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct hot_reading *reading = arg;

	hot_tasks_entry(&reading->hot->tasks, entry);
	trace_metadata_entry(&reading->metadata, entry);
	if (reading->lines)
		hot_lines_entry(reading->lines, entry);
}

static int by_start(const void *left, const void *right)
{
	const struct hot_slice *a = left, *b = right;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	/* The outer one first. */
	return a->end_ns > b->end_ns ? -1 : a->end_ns < b->end_ns;
}

static uint32_t child_of(struct hot *hot, uint32_t parent, uint32_t name)
{
	struct hot_node node = {.name = name,
				.parent = parent,
				.child = HOT_NONE,
				.sibling = HOT_NONE};
	uint32_t at;

	if (parent != HOT_NONE) {
		for (at = hot->nodes[parent].child; at != HOT_NONE;
		     at = hot->nodes[at].sibling) {
			if (hot->nodes[at].name == name)
				return at;
		}
		node.sibling = hot->nodes[parent].child;
	}
	hot->nodes = memory_grow(hot->nodes, hot->count, &hot->capacity,
				 sizeof(node));
	hot->nodes[hot->count] = node;
	if (parent != HOT_NONE)
		hot->nodes[parent].child = (uint32_t)hot->count;
	return (uint32_t)hot->count++;
}

/* What of a slice's own samples isn't some line's. */
struct own {
	struct hot *hot;
	uint32_t parent;
	int64_t samples, self_ns;
	double idle;
};

static void add_time(struct hot_node *node, int64_t self_ns, int64_t samples,
		     double idle)
{
	node->self_ns += self_ns;
	node->samples += samples;
	node->idle_ns += (int64_t)(idle * (double)self_ns);
}

static void on_line(void *arg, const uint32_t *functions, uint32_t count,
		    int64_t samples)
{
	struct own *own = arg;
	uint32_t node = own->parent;
	int64_t self_ns;

	if (samples > own->samples)
		return;
	self_ns = (int64_t)((double)own->self_ns * (double)samples /
			    (double)own->samples);
	for (uint32_t i = 0; i < count; i++)
		node = child_of(own->hot, node, functions[i]);
	add_time(&own->hot->nodes[node], self_ns, samples, own->idle);
	own->samples -= samples;
	own->self_ns -= self_ns;
}

static void add_self(struct hot_reading *reading, const struct hot_slice *slice,
		     uint32_t parent, uint32_t node)
{
	struct hot *hot = reading->hot;
	struct own own = {hot, parent, slice->samples, slice->self_ns,
			  slice->idle};

	if (slice->places != HOT_NONE)
		hot_lines_each(
			reading->lines, &hot->names, slice->name,
			key_table_key(&reading->places, slice->places, NULL),
			on_line, &own);
	add_time(&hot->nodes[node], own.self_ns, own.samples, own.idle);
}

/* The time of a slice in which none lies within it. */
struct own_time {
	struct hot_slice *slice;
	int64_t own_ns, idle_ns;
};

static void leave(const struct own_time *own)
{
	if (own->own_ns > 0)
		own->slice->idle = (double)own->idle_ns / (double)own->own_ns;
}

/* Slices are in order. */
static void find_idle(struct hot_reading *reading)
{
	struct own_time stack[DEPTH_MAX];
	size_t depth = 0;

	hot_gpu_ready(&reading->gpu);
	reading->hot->has_gpu |= reading->gpu.count;
	for (size_t i = 0; i < reading->count && reading->gpu.count; i++) {
		struct hot_slice *slice = &reading->slices[i];
		const struct own_time own = {
			slice, slice->end_ns - slice->start_ns,
			hot_gpu_idle_ns(&reading->gpu, slice->start_ns,
					slice->end_ns)};

		while (depth &&
		       (stack[depth - 1].slice->lane != slice->lane ||
			stack[depth - 1].slice->end_ns <= slice->start_ns))
			leave(&stack[--depth]);
		if (depth) {
			stack[depth - 1].own_ns -= own.own_ns;
			stack[depth - 1].idle_ns -= own.idle_ns;
		}
		if (depth < DEPTH_MAX)
			stack[depth++] = own;
	}
	while (depth)
		leave(&stack[--depth]);
}

/* Slices of one lane nest: what encloses a slice called it. */
static void add_slices(struct hot_reading *reading)
{
	uint32_t stack[DEPTH_MAX];
	int64_t ends[DEPTH_MAX];
	uint32_t lane = HOT_NONE;
	size_t depth = 0;

	qsort(reading->slices, reading->count, sizeof(reading->slices[0]),
	      by_start);
	find_idle(reading);
	for (size_t i = 0; i < reading->count; i++) {
		const struct hot_slice *slice = &reading->slices[i];
		uint32_t parent, node;

		if (slice->lane != lane)
			depth = 0;
		lane = slice->lane;
		while (depth && ends[depth - 1] <= slice->start_ns)
			depth--;
		parent = depth ? stack[depth - 1] : 0;
		if (slice->samples > 0)
			reading->hot->squares += (double)slice->self_ns *
						 (double)slice->self_ns /
						 (double)slice->samples;
		node = child_of(reading->hot, parent, slice->name);
		add_self(reading, slice, parent, node);
		if (depth < DEPTH_MAX) {
			stack[depth] = node;
			ends[depth++] = slice->end_ns;
		}
	}
}

static bool is_recursive(const struct hot *hot, uint32_t node)
{
	const uint32_t name = hot->nodes[node].name;

	for (uint32_t at = hot->nodes[node].parent; at != HOT_NONE;
	     at = hot->nodes[at].parent) {
		if (hot->nodes[at].name == name)
			return true;
	}
	return false;
}

/* A node comes after the one that it lies in. */
static void add_up(struct hot *hot)
{
	for (size_t i = hot->count; i-- > 0;) {
		struct hot_node *node = &hot->nodes[i];

		node->total_ns += node->self_ns;
		if (node->parent != HOT_NONE)
			hot->nodes[node->parent].total_ns += node->total_ns;
	}
	for (uint32_t i = 0; i < hot->count; i++) {
		const struct hot_node *node = &hot->nodes[i];
		struct hot_function *function =
			key_table_row(&hot->names, node->name);

		function->self_ns += node->self_ns;
		function->idle_ns += node->idle_ns;
		if (node->is_in_region)
			function->region_ns += node->self_ns;
		function->samples += node->samples;
		if (!is_recursive(hot, i))
			function->total_ns += node->total_ns;
	}
}

/* Of samples that were asked for a short run may have none. */
static int find_nothing(struct hot *hot, const struct trace_metadata *metadata,
			const char *file)
{
	if (metadata->sample)
		snprintf(
			hot->error, sizeof(hot->error),
			"no samples in %s: its threads hardly ran while it was "
			"recorded, at %ld sample%s a second, or a note of "
			"traceprof report says why",
			file, (long)metadata->sample,
			metadata->sample == 1 ? "" : "s");
	else
		snprintf(hot->error, sizeof(hot->error),
			 "no samples in %s; record with --sample", file);
	return -ENODATA;
}

/* There are samples, but none in the phase. */
static int find_no_phase(struct hot *hot, enum hot_phase phase)
{
	static const char *const why[] = {
		[HOT_PHASE_REGIONS] = "in OpenMP regions",
		[HOT_PHASE_BETWEEN] = "outside of OpenMP regions",
		[HOT_PHASE_GPU_IDLE] = "while a GPU that works was idle",
	};

	snprintf(hot->error, sizeof(hot->error), "no samples %s", why[phase]);
	return -ENODATA;
}

int hot_read(struct hot *hot, char *const *files, int count, bool by_line,
	     enum hot_phase phase)
{
	struct hot_reading reading = {.hot = hot};
	const struct trace_sink sink = {on_event, on_entry, &reading};
	struct trace_facts facts;
	int rc = 0;

	*hot = (struct hot){.names = {.row_bytes = sizeof(struct hot_function)},
			    .by_line = by_line,
			    .is_part = phase != HOT_PHASE_ALL};
	child_of(hot, HOT_NONE, key_table_number(&hot->names, "all", 3));
	for (int i = 0; i < count && !rc; i++) {
		reading.count = 0;
		reading.gpu.count = 0;
		trace_metadata_begin(&reading.metadata);
		reading.lines = by_line ? hot_lines_new() : NULL;
		hot_tasks_file(&hot->tasks);
		rc = trace_read(files[i], &sink, &facts);
		if (rc)
			snprintf(hot->error, sizeof(hot->error), "%s: %s",
				 files[i], facts.error);
		else
			add_slices(&reading);
		hot_lines_free(reading.lines);
		hot->asked_hz = reading.metadata.sample;
		hot->kernel_hz = reading.metadata.kernel_hz;
	}
	free(reading.slices);
	free(reading.gpu.work);
	key_table_free(&reading.places);
	trace_lanes_free(&reading.lanes);
	if (!rc && hot->count == 1)
		rc = find_nothing(hot, &reading.metadata, files[0]);
	hot_phases_mark(hot);
	hot_phases_keep(hot, phase);
	add_up(hot);
	if (!rc && !hot->nodes[0].total_ns)
		rc = phase ? find_no_phase(hot, phase)
			   : find_nothing(hot, &reading.metadata, files[0]);
	return rc;
}

void hot_free(struct hot *hot)
{
	free(hot->nodes);
	key_table_free(&hot->names);
	hot_tasks_free(&hot->tasks);
	*hot = (struct hot){0};
}

/* The same path in the other tree, and what it had there. */
static void compare_paths(struct hot *hot, struct hot *before, uint32_t node,
			  uint32_t other)
{
	hot->nodes[node].before_ns = before->nodes[other].total_ns;
	for (uint32_t at = before->nodes[other].child; at != HOT_NONE;
	     at = before->nodes[at].sibling) {
		size_t len;
		const char *name = key_table_key(&before->names,
						 before->nodes[at].name, &len);

		compare_paths(
			hot, before,
			child_of(hot, node,
				 key_table_number(&hot->names, name, len)),
			at);
	}
}

void hot_compare(struct hot *hot, struct hot *before)
{
	compare_paths(hot, before, 0, 0);
	for (size_t i = 0; i < before->names.count; i++) {
		const struct hot_function *old =
			key_table_row(&before->names, i);
		size_t len;
		const char *name = key_table_key(&before->names, i, &len);
		struct hot_function *function = key_table_row(
			&hot->names, key_table_number(&hot->names, name, len));

		function->before_self_ns = old->self_ns;
		function->before_total_ns = old->total_ns;
	}
}
