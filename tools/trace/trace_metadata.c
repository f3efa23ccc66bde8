/* SPDX-License-Identifier: MIT */
/*
 * trace_metadata.c - picks our own numbers out of a file's entries.
 */
#include "tools/trace/trace_metadata.h"

#include <stdio.h>
#include <string.h>

#include "tools/util/numbers.h"

/* How an entry changes its number. */
enum entry_kind { ENTRY_INTEGER, ENTRY_TIME, ENTRY_SUM };

/* By so much the kernel's ticks may be wrong. */
#define UNTOLD_NS   20000000.0

#define FIELD(name) offsetof(struct trace_metadata, name)

/* A path that ends with a point stands for all that begin so. */
static const struct {
	const char *path;
	size_t field;
	enum entry_kind kind;
} known[] = {
	{"events.seen", FIELD(seen), ENTRY_INTEGER},
	{"events.written", FIELD(written), ENTRY_INTEGER},
	{"events.cut", FIELD(cut), ENTRY_INTEGER},
	{"events.dropped", FIELD(dropped), ENTRY_INTEGER},
	{"events.thinned", FIELD(thinned), ENTRY_INTEGER},
	{"events.in_file", FIELD(in_file), ENTRY_INTEGER},
	{"events.aged", FIELD(aged), ENTRY_INTEGER},
	{"events.outside", FIELD(outside), ENTRY_INTEGER},
	{"events.past_max", FIELD(past_max), ENTRY_INTEGER},
	{"events.unwritable", FIELD(unwritable), ENTRY_INTEGER},
	{"events.unrecorded_calls", FIELD(unrecorded_calls), ENTRY_INTEGER},
	{"events.unfollowed_calls", FIELD(unfollowed_calls), ENTRY_INTEGER},
	{"events.held_up_calls", FIELD(held_up_calls), ENTRY_INTEGER},
	{"events.names_refused", FIELD(names_refused), ENTRY_INTEGER},
	{"events.unnamed", FIELD(unnamed), ENTRY_INTEGER},
	{"sampling.kernel_hz", FIELD(kernel_hz), ENTRY_INTEGER},
	{"sampling.cut_stacks", FIELD(cut_stacks), ENTRY_INTEGER},
	{"sampling.timed", FIELD(timed_samples), ENTRY_INTEGER},
	{"waits.begun", FIELD(waits_begun), ENTRY_INTEGER},
	{"waits.drawn", FIELD(waits_ended), ENTRY_SUM},
	{"waits.outside", FIELD(waits_ended), ENTRY_SUM},
	{"waits.later", FIELD(waits_ended), ENTRY_SUM},
	{"waits.lost", FIELD(waits_lost), ENTRY_INTEGER},
	{"events.missed_calls", FIELD(missed_calls), ENTRY_INTEGER},
	{"dropped_by_kind.", FIELD(dropped_by_kind), ENTRY_SUM},
	{"dropped_by_thread.", FIELD(dropped_by_thread), ENTRY_SUM},
	{"written_by_kind.", FIELD(written_by_kind), ENTRY_SUM},
	{"gpu.launched_kernels", FIELD(launched_kernels), ENTRY_INTEGER},
	{"gpu.missing_kernels", FIELD(missing_kernels), ENTRY_INTEGER},
	{"gpu.partial_graphs", FIELD(partial_graphs), ENTRY_INTEGER},
	{"gpu.cut_annotations", FIELD(cut_annotations), ENTRY_INTEGER},
	{"gpu.calls_without_operation", FIELD(calls_without_operation),
	 ENTRY_INTEGER},
	{"gpu.crossing_slices", FIELD(crossing_slices), ENTRY_INTEGER},
	{"gpu.waits_without_recording", FIELD(waits_without_recording),
	 ENTRY_INTEGER},
	{"gpu.unknown_records", FIELD(unknown_records), ENTRY_INTEGER},
	{"gpu.unsized_graphs", FIELD(unsized_graphs), ENTRY_INTEGER},
	{"gpu.unpaired_calls", FIELD(unpaired_calls), ENTRY_INTEGER},
	{"gpu.unknown_captures", FIELD(unknown_captures), ENTRY_INTEGER},
	{"gpu.taken_ns", FIELD(taken_ns), ENTRY_INTEGER},
	{"gpu.silent", FIELD(silent), ENTRY_INTEGER},
	{"gpu.unsettled_ns", FIELD(unsettled_ns), ENTRY_INTEGER},
	{"heap.calls", FIELD(heap_calls), ENTRY_INTEGER},
	{"heap.frees", FIELD(heap_frees), ENTRY_INTEGER},
	{"heap.bytes", FIELD(heap_bytes), ENTRY_INTEGER},
	{"heap.asked_bytes", FIELD(heap_asked_bytes), ENTRY_INTEGER},
	{"heap.live_bytes", FIELD(heap_live_bytes), ENTRY_INTEGER},
	{"heap.peak_bytes", FIELD(heap_peak_bytes), ENTRY_INTEGER},
	{"heap.calls_before", FIELD(heap_calls_before), ENTRY_INTEGER},
	{"heap.frees_before", FIELD(heap_frees_before), ENTRY_INTEGER},
	{"heap.bytes_before", FIELD(heap_bytes_before), ENTRY_INTEGER},
	{"heap.asked_bytes_before", FIELD(heap_asked_before), ENTRY_INTEGER},
	{"stacks.refused", FIELD(stacks_refused), ENTRY_INTEGER},
	{"stacks.untaken", FIELD(stacks_untaken), ENTRY_INTEGER},
	{"cpus", FIELD(cpus), ENTRY_INTEGER},
	{"bound_cpus", FIELD(bound_cpus), ENTRY_INTEGER},
	{"bound_threads", FIELD(bound_threads), ENTRY_INTEGER},
	{"threads_ran_ns", FIELD(threads_ran_ns), ENTRY_INTEGER},
	{"threads_waited_ns", FIELD(threads_unscheduled_ns), ENTRY_INTEGER},
	{"scheduled.ran_ns", FIELD(ran_ns), ENTRY_INTEGER},
	{"scheduled.waited_ns", FIELD(unscheduled_ns), ENTRY_INTEGER},
	{"scheduled.lived_ns", FIELD(lived_ns), ENTRY_INTEGER},
	{"scheduled.processors_ns", FIELD(processors_ns), ENTRY_INTEGER},
	{"scheduled.others_ns", FIELD(others_ns), ENTRY_INTEGER},
	{"scheduled.program_ns", FIELD(program_ns), ENTRY_INTEGER},
	{"window.heap_calls", FIELD(window.heap_calls), ENTRY_INTEGER},
	{"window.heap_bytes", FIELD(window.heap_bytes), ENTRY_INTEGER},
	{"window.hooks_ns", FIELD(window.hooks_ns), ENTRY_INTEGER},
	{"window.processors_ns", FIELD(window.processors_ns), ENTRY_INTEGER},
	{"window.others_ns", FIELD(window.others_ns), ENTRY_INTEGER},
	{"window.program_ns", FIELD(window.program_ns), ENTRY_INTEGER},
	{"cpu_limit_percent", FIELD(cpu_limit_percent), ENTRY_INTEGER},
	{"cost.hooks_ns", FIELD(hooks_ns), ENTRY_INTEGER},
	{"cost.writer_ns", FIELD(writer_ns), ENTRY_INTEGER},
	{"options.MAX_OVERHEAD", FIELD(overhead_percent), ENTRY_INTEGER},
	{"options.SKIP_FIRST", FIELD(schedule), ENTRY_SUM},
	{"options.WAIT", FIELD(schedule), ENTRY_SUM},
	{"options.WARMUP", FIELD(schedule), ENTRY_SUM},
	{"options.ACTIVE", FIELD(schedule), ENTRY_SUM},
	{"options.SAMPLE", FIELD(sample), ENTRY_INTEGER},
	{"step.seen", FIELD(steps_seen), ENTRY_INTEGER},
	{"step.died_in", FIELD(died_in), ENTRY_INTEGER},
	{"step.first", FIELD(first_step), ENTRY_INTEGER},
	{"step.missed_windows", FIELD(missed_windows), ENTRY_INTEGER},
	{"gpu.without_time", FIELD(gpu_missing), ENTRY_SUM},
	{"gpu.dropped_records", FIELD(gpu_missing), ENTRY_SUM},
	{"gpu.lost_buffers", FIELD(gpu_missing), ENTRY_SUM},
	{"gpu.without_time", FIELD(without_time), ENTRY_INTEGER},
	{"gpu.unfinished", FIELD(unfinished), ENTRY_INTEGER},
	{"gpu.dropped_records", FIELD(dropped_records), ENTRY_INTEGER},
	{"gpu.lost_buffers", FIELD(lost_buffers), ENTRY_INTEGER},
	{"detail_ended", FIELD(detail_ended_ns), ENTRY_TIME},
	{"part", FIELD(part), ENTRY_INTEGER},
	{"python.ended", FIELD(python_ended_ns), ENTRY_TIME},
	{"heap.small_blocks_ended", FIELD(small_blocks_ended_ns), ENTRY_TIME},
};

void trace_metadata_begin(struct trace_metadata *metadata)
{
	memset(metadata, 0xff, sizeof(*metadata)); /* all -1 */
	metadata->threads = 0;
	metadata->unrecorded_calls = 0;
	metadata->missed_calls = 0;
	metadata->thinned = 0;
	metadata->unfollowed_calls = 0;
	metadata->held_up_calls = 0;
	metadata->names_refused = 0;
	metadata->unnamed = 0;
	metadata->unwritable = 0;
	metadata->is_unfinished = false;
	metadata->is_recovered = false;
	metadata->died_in = -1;
	metadata->is_by_hand = false;
	metadata->is_cupti = false;
	metadata->has_no_kernels = false;
	metadata->is_taken = false;
	metadata->has_children = false;
	metadata->heap_peak_is_least = false;
	metadata->has_no_heap = false;
	metadata->has_each_block = false;
	metadata->has_heap_stacks = false;
	metadata->has_sites = false;
	metadata->tasks = (struct trace_tasks){0};
}

static void take(struct trace_metadata *metadata, size_t row,
		 const struct trace_value *value)
{
	int64_t *field = (int64_t *)((char *)metadata + known[row].field);
	int64_t number = 0;
	int error = -1;

	if (value->type == TRACE_NUMBER || value->type == TRACE_STRING)
		error = known[row].kind == ENTRY_TIME
				? decimal_to_ns(value->text, value->len,
						&number)
				: decimal_to_integer(value->text, value->len,
						     &number);
	if (known[row].kind == ENTRY_SUM)
		*field = saturate_add(*field < 0 ? 0 : *field, number);
	else if (error >= 0)
		*field = number;
}

static bool matches(const char *path, const char *wanted)
{
	const size_t len = strlen(wanted);

	return wanted[len - 1] == '.' ? !strncmp(path, wanted, len)
				      : !strcmp(path, wanted);
}

/* Of a thread ready_us comes before wall_us; of the process there is none. */
static void take_task(struct trace_tasks *tasks,
		      const struct trace_entry *entry)
{
	const char *field = strrchr(entry->path, '.') + 1;
	int64_t ns = 0;

	if (!strcmp(field, "name"))
		snprintf(tasks->now.name, sizeof(tasks->now.name), "%.*s",
			 (int)entry->value.len, entry->value.text);
	if (entry->value.type != TRACE_NUMBER)
		return;
	if (!strcmp(field, "tid")) {
		tasks->is_thread = false;
		decimal_to_integer(entry->value.text, entry->value.len,
				   &tasks->now.tid);
		return;
	}
	if (!strcmp(field, "minor_faults")) {
		if (!tasks->is_thread)
			decimal_to_integer(entry->value.text, entry->value.len,
					   &tasks->faults);
		return;
	}
	if (decimal_to_ns(entry->value.text, entry->value.len, &ns) < 0 ||
	    ns < 0)
		return;
	if (!strcmp(field, "ran_us")) {
		tasks->now.ran_ns = ns;
	} else if (!strcmp(field, "ready_us")) {
		tasks->is_thread = true;
		tasks->now.ready_ns = ns;
		saturate_into(&tasks->ready_ns, ns);
		if (ns > tasks->ready_most_ns)
			tasks->ready_most_ns = ns;
	} else if (!strcmp(field, "wall_us")) {
		tasks->now.wall_ns = ns;
		tasks->there += tasks->is_thread;
		if (!tasks->is_thread)
			saturate_into(&tasks->process_ran_ns,
				      tasks->now.ran_ns);
		else if (tasks->threads < TRACE_TASKS_MAX)
			tasks->thread[tasks->threads++] = tasks->now;
		saturate_into(tasks->is_thread ? &tasks->there_ns
					       : &tasks->process_ns,
			      ns);
	}
}

/* Nobody counted: that is no 0. */
static void forget_heap(struct trace_metadata *metadata)
{
	metadata->heap_calls = -1;
	metadata->heap_frees = -1;
	metadata->heap_bytes = -1;
	metadata->heap_asked_bytes = -1;
	metadata->heap_live_bytes = -1;
	metadata->heap_peak_bytes = -1;
	metadata->heap_calls_before = -1;
	metadata->heap_frees_before = -1;
	metadata->heap_bytes_before = -1;
	metadata->heap_asked_before = -1;
}

/* It was not asked for, or is an allocator's own. */
static bool tells_of_no_heap(const char *path, const struct trace_value *value)
{
	static const char note[] = "heap not recorded";

	if (!strcmp(path, "options.MALLOC"))
		return trace_value_is(value, "off");
	return !strncmp(path, "notes.", 6) && value->type == TRACE_STRING &&
	       !strncmp(value->text, note, sizeof(note) - 1);
}

/* Whose blocks have the call stacks that tell who allocates. */
static void take_heap_stacks(struct trace_metadata *metadata, const char *path,
			     const char *text)
{
	if (!strcmp(path, "options.MALLOC")) {
		metadata->has_each_block = !strcmp(text, "all");
		metadata->has_sites =
			!strcmp(text, "sites") || !strcmp(text, "sampled");
	}
	if (!strcmp(path, "options.STACK"))
		metadata->has_heap_stacks =
			strstr(text, "heap") || !strncmp(text, "all", 3);
}

/* Why kernels are missing, where a note has it: kinds 3 and 10 are theirs. */
static void take_note(struct trace_metadata *metadata, const char *note)
{
	metadata->has_no_kernels |=
		!strncmp(note, "CUPTI refuses records of kind 3:", 32) ||
		!strncmp(note, "CUPTI refuses records of kind 10:", 33) ||
		strstr(note, "gives no record of one");
	metadata->is_taken |=
		strstr(note, "another profiler in the program") != NULL;
}

bool trace_metadata_names_blocks(const struct trace_metadata *metadata)
{
	return !metadata->has_no_heap &&
	       (metadata->has_sites ||
		(metadata->has_each_block && metadata->has_heap_stacks));
}

void trace_metadata_entry(struct trace_metadata *metadata,
			  const struct trace_entry *entry)
{
	const char *path = entry->path;

	if (strncmp(path, "traceprof.", 10))
		return;
	path += 10;
	if (!strncmp(path, "tasks.", 6)) {
		take_task(&metadata->tasks, entry);
		return;
	}
	if (!strcmp(path, "final"))
		metadata->is_unfinished = !strcmp(entry->value.text, "false");
	if (!strcmp(path, "recovered"))
		metadata->is_recovered = !strcmp(entry->value.text, "true");
	if (!strcmp(path, "gpu.source"))
		metadata->is_cupti = !strcmp(entry->value.text, "cupti");
	if (!strcmp(path, "options.CHILDREN"))
		metadata->has_children = !strcmp(entry->value.text, "all");
	if (!strcmp(path, "options.MALLOC"))
		metadata->heap_peak_is_least |=
			strcmp(entry->value.text, "all") &&
			strcmp(entry->value.text, "sites");
	take_heap_stacks(metadata, path, entry->value.text);
	if (!strncmp(path, "notes.", 6) && entry->value.type == TRACE_STRING)
		take_note(metadata, entry->value.text);
	/* Most small blocks made no event, to save time. */
	if (!strcmp(path, "heap.thinned_mask"))
		metadata->heap_peak_is_least = true;
	if (!strcmp(path, "step.name") || !strcmp(path, "trigger"))
		metadata->is_by_hand = true;
	metadata->threads += !strncmp(path, "dropped_by_thread.", 18);
	for (size_t row = 0; row < sizeof(known) / sizeof(known[0]); row++)
		if (matches(path, known[row].path))
			take(metadata, row, &entry->value);
	metadata->has_no_heap |= tells_of_no_heap(path, &entry->value);
	if (metadata->has_no_heap)
		forget_heap(metadata);
}

bool trace_metadata_is_windowed(const struct trace_metadata *metadata)
{
	return metadata->schedule > 0 || metadata->is_by_hand;
}

bool trace_metadata_peak_is_least(const struct trace_metadata *metadata)
{
	return metadata->heap_peak_is_least ||
	       trace_metadata_is_windowed(metadata) || metadata->dropped > 0 ||
	       metadata->unrecorded_calls > 0;
}

double trace_metadata_unscheduled(const struct trace_metadata *metadata)
{
	const double ran = (double)metadata->ran_ns;
	const double waited = (double)metadata->unscheduled_ns;

	return ran > 0 && waited > 0 ? waited / (ran + waited) : 0;
}

double trace_metadata_unscheduled_most(const struct trace_metadata *metadata)
{
	const double ran = (double)metadata->threads_ran_ns;
	const double waited = (double)metadata->threads_unscheduled_ns;
	const double all = ran > 0 && waited > 0 ? waited / (ran + waited) : 0;
	const double first = trace_metadata_unscheduled(metadata);

	return all > first ? all : first;
}

double trace_metadata_unscheduled_tasks(const struct trace_metadata *metadata)
{
	const struct trace_tasks *tasks = &metadata->tasks;
	const double wall = (double)tasks->process_ns;
	/* Without the first one, which only waits for them. */
	const double threads = (double)tasks->there_ns - wall;
	const double mean =
		(double)tasks->ready_ns / (threads > wall ? threads : wall);
	const double most = (double)tasks->ready_most_ns / wall;

	if (wall <= 0)
		return 0;
	return most > mean ? most : mean;
}

double trace_metadata_unevenly_scheduled(const struct trace_metadata *metadata)
{
	const struct trace_tasks *tasks = &metadata->tasks;
	int64_t wanted = 0, most = 0, least = INT64_MAX;

	for (unsigned int at = 0; at < tasks->threads; at++)
		if (tasks->thread[at].ran_ns + tasks->thread[at].ready_ns >
		    wanted)
			wanted = tasks->thread[at].ran_ns +
				 tasks->thread[at].ready_ns;
	for (unsigned int at = 0; at < tasks->threads; at++) {
		const int64_t ready = tasks->thread[at].ready_ns;

		if (tasks->thread[at].ran_ns + ready < wanted / 2)
			continue;
		if (ready > most)
			most = ready;
		if (ready < least)
			least = ready;
	}
	return tasks->process_ns > 0 && most > least
		       ? (double)(most - least) / (double)tasks->process_ns
		       : 0;
}

double trace_metadata_others(const struct trace_metadata *metadata)
{
	const double others = (double)metadata->others_ns - UNTOLD_NS;

	return metadata->processors_ns > 0 && others > 0
		       ? others / (double)metadata->processors_ns
		       : 0;
}

bool trace_metadata_is_part(const struct trace_metadata *metadata)
{
	return metadata->schedule > 0 || metadata->is_by_hand ||
	       metadata->outside > 0 || metadata->part > 0;
}

struct trace_sums trace_metadata_own(const struct trace_metadata *metadata)
{
	if (trace_metadata_is_part(metadata))
		return metadata->window;
	return (struct trace_sums){.heap_calls = metadata->heap_calls,
				   .heap_bytes = metadata->heap_bytes,
				   .hooks_ns = metadata->hooks_ns,
				   .processors_ns = metadata->processors_ns,
				   .others_ns = metadata->others_ns,
				   .program_ns = metadata->program_ns};
}

static void scale(int64_t *number, double part)
{
	if (*number > 0)
		*number = (int64_t)((double)*number * part);
}

void trace_metadata_scale(struct trace_metadata *metadata, double part)
{
	int64_t *const counted[] = {&metadata->heap_calls,
				    &metadata->heap_frees,
				    &metadata->heap_bytes,
				    &metadata->hooks_ns,
				    &metadata->writer_ns,
				    &metadata->ran_ns,
				    &metadata->unscheduled_ns,
				    &metadata->lived_ns,
				    &metadata->processors_ns,
				    &metadata->others_ns,
				    &metadata->program_ns,
				    &metadata->window.heap_calls,
				    &metadata->window.heap_bytes,
				    &metadata->window.hooks_ns,
				    &metadata->window.processors_ns,
				    &metadata->window.others_ns,
				    &metadata->window.program_ns,
				    &metadata->tasks.faults,
				    &metadata->tasks.process_ns};

	for (size_t at = 0; at < sizeof(counted) / sizeof(counted[0]); at++)
		scale(counted[at], part);
}

double trace_metadata_idle(const struct trace_sums *own)
{
	const double all = (double)own->processors_ns;

	if (all <= 0 || own->others_ns < 0 || own->program_ns < 0)
		return 0;
	return (all - (double)own->others_ns - (double)own->program_ns) / all;
}

int64_t trace_metadata_processors(const struct trace_metadata *metadata)
{
	const int64_t limit = metadata->cpu_limit_percent;

	if (metadata->cpus <= 0)
		return 0;
	return limit > 0 && limit / 100 < metadata->cpus ? (limit + 99) / 100
							 : metadata->cpus;
}
