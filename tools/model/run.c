/* SPDX-License-Identifier: MIT */
/*
 * run.c - steps and names of all files of one run.
 */
#include "tools/model/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/heap_total.h"
#include "tools/trace/trace_folder.h"
#include "tools/trace/trace_metadata.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

#define STEP	   "ProfilerStep#"
#define STEP_CHARS (sizeof(STEP) - 1)

/* One file, being read. */
struct reading {
	struct run *run;
	size_t first; /* of its steps in run->steps */
	struct trace_metadata metadata;
	int64_t rank, ranks;
	int64_t event_peak_bytes;
	struct heap_total heap;
	struct text_buffer key;
};

static bool is_step(const struct trace_event *event)
{
	return trace_event_is_slice(event) &&
	       !strncmp(event->field[FIELD_NAME].text, STEP, STEP_CHARS) &&
	       trace_value_is(&event->field[FIELD_CAT], "user_annotation");
}

/* First pass. */
static void on_step(void *arg, const struct trace_event *event)
{
	struct reading *reading = arg;
	struct run *run = reading->run;
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct run_step step = {
		.file = run->files,
		.start_ns = event->ts_ns,
		.dur_ns = event->dur_ns,
		.live_bytes = -1,
	};
	const struct trace_value finished = trace_event_arg(event, "finished");
	int64_t file, number;

	if (!is_step(event) ||
	    decimal_to_integer(name->text + STEP_CHARS, name->len - STEP_CHARS,
			       &step.number))
		return;
	/* A baseline holds those of several. */
	if (trace_event_integer(event, "baseline file", &file))
		step.file += (uint32_t)file;
	if (trace_event_integer(event, "baseline run", &number))
		step.run = (uint32_t)number;
	step.is_cut = trace_value_is(&finished, "false");
	run->steps = memory_grow(run->steps, run->step_count,
				 &run->step_capacity, sizeof(step));
	run->steps[run->step_count++] = step;
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct reading *reading = arg;

	trace_metadata_entry(&reading->metadata, entry);
	if (!strcmp(entry->path, "distributedInfo.world_size"))
		decimal_to_integer(entry->value.text, entry->value.len,
				   &reading->ranks);
	if (!strcmp(entry->path, "distributedInfo.rank"))
		decimal_to_integer(entry->value.text, entry->value.len,
				   &reading->rank);
}

/* The first pass has seen it. */
static void skip(void *arg, const struct trace_entry *entry)
{
	(void)arg;
	(void)entry;
}

static int compare_steps(const void *left, const void *right)
{
	const struct run_step *a = left, *b = right;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* What follows the loop is in a last step that nothing ends: it tells where the
 * file has no other. */
static void leave_out_cut(struct run *run, size_t first)
{
	size_t kept = first;

	for (size_t at = first; at < run->step_count; at++)
		if (!run->steps[at].is_cut)
			run->steps[kept++] = run->steps[at];
	if (kept > first)
		run->step_count = kept;
}

/* The number of the last step that began by then, or `first` - 1. */
static size_t last_begun(const struct reading *reading, int64_t ns)
{
	size_t low = reading->first, high = reading->run->step_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (reading->run->steps[middle].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

/* The step in which a time lies; -1 none. */
static long step_at(const struct reading *reading, int64_t ns)
{
	const size_t at = last_begun(reading, ns);
	const struct run_step *step = &reading->run->steps[at];

	if (at + 1 == reading->first || ns >= step->start_ns + step->dur_ns)
		return -1;
	return (long)at;
}

static void take_room(struct run *run, struct run_name *name)
{
	if (name->step_ns || name->has_no_room)
		return;
	if (run->cells + run->step_count > RUN_CELLS_MAX) {
		name->has_no_room = true;
		return;
	}
	run->cells += run->step_count;
	name->step_ns = memory_zeroed(run->step_count, sizeof(float));
}

static const char *category_of(const struct trace_event *event)
{
	const struct trace_value part = trace_event_arg(event, "omp");

	if (trace_value_is(&part, "task"))
		return RUN_MEMBERS;
	if (trace_value_is(&part, "wait") || trace_value_is(&part, "waits"))
		return RUN_WAITS;
	return event->field[FIELD_CAT].text;
}

/* What is no content of the program. */
static bool is_ours(const struct trace_event *event)
{
	const struct trace_value *category = &event->field[FIELD_CAT];

	return trace_value_is(category, "Trace") ||
	       trace_value_is(category, "overhead");
}

static void close_step(struct run_name *name)
{
	if (name->step_ns)
		name->step_ns[name->open_step] += (float)name->open_ns;
	name->open_ns = 0;
}

static void add_in_step(struct run_name *name, long step, int64_t dur_ns)
{
	if (!name->step_ns)
		return;
	if (step != name->open_step)
		close_step(name);
	name->open_step = step;
	name->open_ns += (double)dur_ns;
}

static void on_slice(struct reading *reading, const struct trace_event *event)
{
	const struct trace_value *text = &event->field[FIELD_NAME];
	const char *category = category_of(event);
	struct run *run = reading->run;
	const long step = step_at(reading, event->ts_ns);
	struct run_name *name;
	int64_t calls = 1;

	/* One slice of a baseline stands for many calls. */
	trace_event_integer(event, "baseline calls", &calls);
	text_buffer_cut(&reading->key, 0);
	text_buffer_add(&reading->key, category, strlen(category) + 1);
	text_buffer_add(&reading->key, text->text, text->len);
	name = key_table_row(&run->names,
			     key_table_number(&run->names, reading->key.data,
					      reading->key.len));
	name->calls += calls;
	saturate_into(&name->sum_ns, event->dur_ns);
	if (step < 0)
		return;
	take_room(run, name);
	add_in_step(name, step, event->dur_ns);
}

/* The heap's size after each call of malloc and free; the last one in or before
 * a step's end stands for it. */
static void on_memory(struct reading *reading, const struct trace_event *event)
{
	int64_t type = 0;
	long step;

	trace_event_integer(event, "Device Type", &type);
	if (type || !heap_total_after(&reading->heap, event))
		return;
	if (reading->heap.bytes > reading->event_peak_bytes)
		reading->event_peak_bytes = reading->heap.bytes;
	step = step_at(reading, event->ts_ns);
	if (step >= 0)
		reading->run->steps[step].live_bytes = reading->heap.bytes;
}

/* Second pass. */
static void on_event(void *arg, const struct trace_event *event)
{
	struct reading *reading = arg;

	if (trace_event_is_slice(event)) {
		if (!is_step(event) && !is_ours(event))
			on_slice(reading, event);
	} else if (trace_value_is(&event->field[FIELD_NAME], "[memory]")) {
		on_memory(reading, event);
	}
}

/* Rows that were filled before this file came have no place for its steps. */
static void widen(struct run *run, size_t before)
{
	const size_t more = run->step_count - before;

	for (size_t at = 0; more && at < run->names.count; at++) {
		struct run_name *name = key_table_row(&run->names, at);

		if (!name->step_ns)
			continue;
		name->step_ns = memory_resize(name->step_ns, run->step_count,
					      sizeof(float));
		memset(name->step_ns + before, 0, more * sizeof(float));
		run->cells += more;
	}
}

/* Which run the file is of; its steps get the number. */
static void number_run(struct reading *reading, const char *path)
{
	const char *slash = strrchr(path, '/'),
		   *name = slash ? slash + 1 : path;
	struct run *run = reading->run;
	struct run_file file = {.rank = reading->rank};

	snprintf(file.process, sizeof(file.process), "%.*s",
		 (int)strcspn(name, "."), name);
	for (size_t at = 0; at < run->source_count; at++) {
		const struct run_file *other = &run->sources[at];

		if (!strcmp(other->process, file.process)) {
			file.run = other->run;
			break;
		}
		if (other->rank == file.rank && other->run >= file.run)
			file.run = other->run + 1;
	}
	run->sources = memory_grow(run->sources, run->source_count,
				   &run->source_capacity, sizeof(file));
	run->sources[run->source_count++] = file;
	for (size_t at = reading->first; at < run->step_count; at++) {
		struct run_step *step = &run->steps[at];

		step->run += file.run;
		if (step->run >= run->runs)
			run->runs = step->run + 1;
	}
}

static void close_steps(struct run *run)
{
	for (size_t at = 0; at < run->names.count; at++)
		close_step(key_table_row(&run->names, at));
}

static void close_file(struct reading *reading)
{
	struct run *run = reading->run;
	const int64_t peak = reading->metadata.heap_peak_bytes >= 0
				     ? reading->metadata.heap_peak_bytes
				     : reading->event_peak_bytes;

	if (peak > run->peak_bytes)
		run->peak_bytes = peak;
	if (reading->metadata.dropped > 0)
		saturate_into(&run->lost, reading->metadata.dropped);
	if (reading->metadata.ran_ns > 0 &&
	    reading->metadata.unscheduled_ns >= 0) {
		saturate_into(&run->ran_ns, reading->metadata.ran_ns);
		saturate_into(&run->unscheduled_ns,
			      reading->metadata.unscheduled_ns);
	}
	/* A rank's neighbours are no strangers. */
	if (reading->metadata.processors_ns > 0 && reading->ranks <= 1) {
		saturate_into(&run->processors_ns,
			      reading->metadata.processors_ns);
		saturate_into(&run->others_ns, reading->metadata.others_ns);
	}
	run->files = run->step_count > reading->first
			     ? run->steps[run->step_count - 1].file + 1
			     : run->files + 1;
}

static int read_file(struct run *run, const char *path)
{
	struct reading reading = {
		.run = run,
		.first = run->step_count,
		.rank = -1,
		.event_peak_bytes = -1,
	};
	struct trace_sink sink = {on_step, on_entry, &reading};
	struct trace_facts facts;
	int error;

	trace_metadata_begin(&reading.metadata);
	error = trace_read(path, &sink, &facts);
	if (!error) {
		qsort(run->steps + reading.first,
		      run->step_count - reading.first, sizeof(*run->steps),
		      compare_steps);
		leave_out_cut(run, reading.first);
		widen(run, reading.first);
		sink = (struct trace_sink){on_event, skip, &reading};
		error = trace_read(path, &sink, &facts);
		close_steps(run);
		number_run(&reading, path);
	}
	text_buffer_free(&reading.key);
	if (error)
		snprintf(run->error, sizeof(run->error), "%.100s: %.150s", path,
			 facts.error);
	else
		close_file(&reading);
	return error;
}

static int read_one(void *arg, const char *path)
{
	return read_file(arg, path);
}

int run_read(struct run *run, const char *path)
{
	const int error = trace_folder_each(path, read_one, run);

	if (error && !run->error[0])
		snprintf(run->error, sizeof(run->error), "%.200s: %s", path,
			 error == -ENOENT ? "no trace in it"
					  : strerror(-error));
	return error;
}

void run_begin(struct run *run)
{
	*run = (struct run){
		.names = {.row_bytes = sizeof(struct run_name)},
		.peak_bytes = -1,
	};
}

void run_free(struct run *run)
{
	for (size_t at = 0; at < run->names.count; at++) {
		struct run_name *name = key_table_row(&run->names, at);

		free(name->step_ns);
	}
	key_table_free(&run->names);
	free(run->steps);
	free(run->sources);
	run_begin(run);
}

double run_disturbed(const struct run *run)
{
	const struct trace_metadata sums = {
		.ran_ns = run->ran_ns, .unscheduled_ns = run->unscheduled_ns};

	return trace_metadata_unscheduled(&sums);
}

double run_others(const struct run *run)
{
	const struct trace_metadata sums = {.processors_ns = run->processors_ns,
					    .others_ns = run->others_ns};

	return trace_metadata_others(&sums);
}

const char *run_category(const struct run *run, size_t number)
{
	return key_table_key(&run->names, number, NULL);
}

const char *run_name_text(const struct run *run, size_t number)
{
	const char *category = run_category(run, number);

	return category + strlen(category) + 1;
}

const struct run_name *run_same_name(const struct run *run,
				     const struct run *other, size_t number)
{
	size_t len;
	const char *key = key_table_key(&run->names, number, &len);

	return key_table_find(&other->names, key, len);
}
