/* SPDX-License-Identifier: MIT */
/* heap_log.c - reads a trace's memory events; see heap_log.h. */
#include "tools/memory/heap_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/trace_sampled.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

static uint32_t space_number(struct heap_log *log,
			     const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct heap_space space = {.device = -1};

	trace_event_integer(event, "Device Type", &space.type);
	trace_event_integer(event, "Device Id", &space.device);
	if (trace_value_is(name, "[memory] pinned"))
		space = (struct heap_space){.type = HEAP_TYPE_PINNED};
	else if (trace_value_is(name, "[memory] mapped"))
		space = (struct heap_space){.type = HEAP_TYPE_MAPPED};
	else if (trace_value_is(name, "[memory] driver"))
		space.type = HEAP_TYPE_DRIVER;
	for (uint32_t i = 0; i < log->space_count; i++)
		if (log->spaces[i].type == space.type &&
		    log->spaces[i].device == space.device)
			return i;
	if (log->space_count == HEAP_SPACES_MAX)
		return HEAP_SPACES_MAX - 1;
	log->spaces[log->space_count] = space;
	return log->space_count++;
}

/* An allocator says what it holds; else it is what is allocated. */
static void take_reserved(struct heap_space *space,
			  const struct trace_event *event)
{
	int64_t reserved, allocated;

	if (trace_event_integer(event, "Total Reserved", &reserved) &&
	    trace_event_integer(event, "Total Allocated", &allocated) &&
	    reserved > space->reserved_peak) {
		space->reserved_peak = reserved;
		space->used_then = allocated;
	}
}

/* "file(12): function", as `traceprof symbolize` leaves it. */
static void take_source(struct heap_frame *frame, char *text)
{
	char *colon = strstr(text, "): ");
	char *open = colon;

	while (open && open > text && *open != '(')
		open--;
	if (!open || *open != '(')
		return;
	*open = '\0';
	frame->is_asked = true;
	frame->count = 1;
	frame->function = colon + 3;
	frame->source = memory_zeroed(1, sizeof(*frame->source));
	*frame->source =
		(struct source_frame){frame->function, text, atoi(open + 1)};
}

/* "module(0x1234): function" */
static uint32_t frame_number(struct heap_log *log, const char *text, size_t len)
{
	const uint32_t number = key_table_number(&log->frames, text, len);
	struct heap_frame *frame = key_table_row(&log->frames, number);
	const char *colon;
	char *copy, *open;

	if (frame->module)
		return number;
	copy = strndup(text, len);
	frame->module = copy;
	frame->function = "";
	open = strstr(copy, "(0x");
	if (!open) {
		take_source(frame, copy);
		return number;
	}
	frame->address = strtoull(open + 3, NULL, 16);
	colon = strstr(open, "): ");
	*open = '\0';
	if (colon)
		frame->function = colon + 3;
	return number;
}

static void add_frames(struct heap_log *log, struct heap_stack *stack,
		       const char *text)
{
	if (stack->count)
		return;
	stack->first = log->list_count;
	while (*text) {
		const size_t len = strcspn(text, ";");
		const uint32_t number = frame_number(log, text, len);

		log->frame_list = memory_grow(log->frame_list, log->list_count,
					      &log->list_capacity,
					      sizeof(log->frame_list[0]));
		log->frame_list[log->list_count++] = number;
		stack->count++;
		text += len + (text[len] == ';');
	}
}

/* The log's number of the event's stack, from 1. */
static uint32_t take_stack(struct heap_log *log,
			   const struct trace_event *event)
{
	const struct trace_value id = trace_event_arg(event, "stack");
	const struct trace_value text = trace_event_arg(event, "Call stack");
	uint32_t number;

	if (id.type != TRACE_NUMBER)
		return 0;
	number = key_table_number(&log->stacks, id.text, id.len);
	if (text.type == TRACE_STRING)
		add_frames(log, key_table_row(&log->stacks, number), text.text);
	return number + 1;
}

static void take_block(struct heap_log *log, const struct trace_event *event)
{
	struct heap_event *block;
	int64_t bytes, address, weighed, spare = 0, blocks = 1;

	if (!trace_event_integer(event, "Bytes", &bytes) ||
	    !trace_event_integer(event, "Addr", &address))
		return;
	if (!trace_event_integer(event, "Spare", &spare) || spare < 0 ||
	    spare > bytes)
		spare = 0;
	/* A sample stands for more than itself. */
	if (trace_event_integer(event, "Weighed", &weighed) && bytes) {
		spare = (int64_t)((double)spare * (double)weighed /
				  (double)bytes);
		/* Whole ones, and what is left over goes to the next. */
		log->left_over += (double)weighed / (double)bytes;
		blocks = (int64_t)log->left_over;
		log->left_over -= (double)blocks;
		bytes = weighed;
	}
	log->events = memory_grow(log->events, log->count, &log->capacity,
				  sizeof(log->events[0]));
	block = &log->events[log->count];
	log->has_stacks |= trace_event_arg(event, "stack").type == TRACE_NUMBER;
	*block = (struct heap_event){
		.ts_ns = event->ts_ns,
		.address = (uint64_t)address,
		.bytes = bytes,
		.blocks = blocks,
		.spare = spare,
		.stack = take_stack(log, event),
		.order = (uint32_t)log->count++,
		.thread = trace_lanes_number(&log->lanes, event),
		.space = space_number(log, event),
	};
	take_reserved(&log->spaces[block->space], event);
}

static int64_t number_of(const struct trace_event *event, const char *key)
{
	int64_t number;

	return trace_event_integer(event, key, &number) ? number : 0;
}

/* As site_json.c writes them: those at the end that are zero aren't there. */
static void take_numbers(const struct trace_event *event, const char *key,
			 int64_t *const *into, size_t count)
{
	const struct trace_value text = trace_event_arg(event, key);
	char *at = text.type == TRACE_STRING ? (char *)text.text : "";

	for (size_t i = 0; *at && i < count; i++)
		*into[i] = strtoll(at, &at, 10);
}

static void take_sums(struct heap_part *row, const struct trace_event *event)
{
	int64_t *const into[] = {
		&row->calls,   &row->bytes,  &row->frees,
		&row->live,    &row->blocks, &row->temporary,
		&row->foreign, &row->peak,   &row->peak_blocks,
	};
	int64_t *const spare[] = {
		&row->spare,
		&row->spare_live,
		&row->spare_peak,
		&row->spare_peak_blocks,
	};

	take_numbers(event, "sums", into, sizeof(into) / sizeof(into[0]));
	take_numbers(event, "spare", spare, sizeof(spare) / sizeof(spare[0]));
}

/* "5:12 6:1" */
static void take_sizes(struct heap_part *row, const struct trace_event *event)
{
	const struct trace_value sizes = trace_event_arg(event, "sizes");
	char *at = sizes.type == TRACE_STRING ? (char *)sizes.text : "";

	while (*at) {
		const unsigned long class = strtoul(at, &at, 10);

		if (*at++ != ':')
			return;
		row->sizes[class < HEAP_SIZES ? class : HEAP_SIZES - 1] +=
			strtoll(at, &at, 10);
	}
}

static int64_t time_of(const struct trace_event *event, const char *key)
{
	const struct trace_value time = trace_event_arg(event, key);

	return time.type == TRACE_NUMBER
		       ? (int64_t)(strtod(time.text, NULL) * 1e3)
		       : 0;
}

static void take_row(struct heap_log *log, const struct trace_event *event)
{
	struct heap_part row = {
		.ts_ns = event->ts_ns,
		.order = (uint32_t)log->row_count,
		.is_all = trace_value_is(&event->field[FIELD_NAME],
					 "[memory] sites"),
		.stack = take_stack(log, event),
		.peak_number = number_of(event, "peak_number"),
		.peak_ns = time_of(event, "peak_ts"),
		.other_number = number_of(event, "asked_peak_number"),
		.other_ns = time_of(event, "asked_peak_ts"),
		.strange = number_of(event, "unknown_frees"),
		.lost = number_of(event, "lost"),
	};

	take_sums(&row, event);
	take_sizes(&row, event);
	log->has_stacks |= row.stack != 0;
	log->row_space = space_number(log, event);
	log->lost += row.lost;
	log->rows = memory_grow(log->rows, log->row_count, &log->row_capacity,
				sizeof(log->rows[0]));
	log->rows[log->row_count++] = row;
}

static void take_step(struct heap_log *log, const struct trace_event *event)
{
	const char *name = event->field[FIELD_NAME].text;
	int64_t number;

	/* The last one ends with the program, which frees all that it has. */
	if (trace_event_arg(event, "finished").type != TRACE_ABSENT ||
	    strncmp(name, "ProfilerStep#", 13) ||
	    decimal_to_integer(name + 13, strlen(name + 13), &number))
		return;
	log->steps = memory_grow(log->steps, log->step_count,
				 &log->step_capacity, sizeof(log->steps[0]));
	log->steps[log->step_count++] = (struct heap_step){
		number, event->ts_ns, event->ts_ns + event->dur_ns};
}

/* Until the window's own slice says it, which comes last: metadata has the time
 * of its start. */
static void take_time(struct heap_log *log, const struct trace_event *event)
{
	const int64_t end_ns =
		event->ts_ns +
		(trace_event_is_slice(event) ? event->dur_ns : 0);

	if (event->ts_ns > 0 &&
	    (!log->first_ns || event->ts_ns < log->first_ns))
		log->first_ns = event->ts_ns;
	if (end_ns > log->last_ns)
		log->last_ns = end_ns;
}

/* Of a file that was merged each has its own. */
static void note_span(struct heap_log *log, int64_t start_ns, int64_t end_ns)
{
	const bool is_first = !log->end_ns;

	if (is_first || start_ns < log->start_ns)
		log->start_ns = start_ns;
	if (is_first || end_ns > log->end_ns)
		log->end_ns = end_ns;
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct heap_log *log = arg;

	if (event->ts_state != TIME_GOOD && event->ts_state != TIME_FINE)
		return;
	take_time(log, event);
	if (trace_value_is(&event->field[FIELD_NAME], "[memory] site") ||
	    trace_value_is(&event->field[FIELD_NAME], "[memory] sites")) {
		take_row(log, event);
		return;
	}
	if (event->field[FIELD_NAME].type == TRACE_STRING &&
	    !strncmp(event->field[FIELD_NAME].text, "[memory]", 8)) {
		take_block(log, event);
		return;
	}
	/* A call of CUDA's has the stack of what it allocates. */
	if (trace_event_arg(event, "Call stack").type == TRACE_STRING)
		take_stack(log, event);
	if (trace_event_is_slice(event) &&
	    trace_value_is(&event->field[FIELD_CAT], "user_annotation"))
		take_step(log, event);
	else if (trace_value_is(&event->field[FIELD_NAME],
				"PyTorch Profiler (0)") &&
		 trace_event_is_slice(event)) {
		note_span(log, event->ts_ns, event->ts_ns + event->dur_ns);
	} else if (trace_value_is(&event->field[FIELD_NAME], "process_name") &&
		   !log->lanes.table.count) {
		int64_t pid;

		if (!decimal_to_integer(event->field[FIELD_PID].text,
					event->field[FIELD_PID].len, &pid))
			source_finder_process(log->finder, pid);
	}
}

/* Why there may be none. */
static void on_note(struct heap_log *log, const struct trace_value *value)
{
	static const char about_heap[] = "heap not recorded";

	if (value->type != TRACE_STRING ||
	    strncmp(value->text, about_heap, sizeof(about_heap) - 1))
		return;
	text_buffer_cut(&log->heap_note, 0);
	text_buffer_add_printable(&log->heap_note, value->text, value->len,
				  300);
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct heap_log *log = arg;
	const char *path = entry->path;
	const char *last = strrchr(path, '.');
	int64_t *number = NULL;

	trace_metadata_entry(&log->metadata, entry);
	if (!strncmp(path, "traceprof.notes.", 16))
		on_note(log, &entry->value);
	if (!strcmp(path, "traceprof.stacks.refused"))
		number = &log->stacks_refused;
	if (!strcmp(path, "traceprof.stacks.shortened"))
		number = &log->stacks_shortened;
	if (!strcmp(path, "traceprof.stacks.untaken"))
		number = &log->stacks_untaken;
	if (!strcmp(path, "traceprof.heap.sample_bytes"))
		number = &log->sample_bytes;
	if (!strcmp(path, "traceprof.heap.samples_refused"))
		number = &log->samples_refused;
	if (!strcmp(path, "traceprof.heap.thinned_mask"))
		number = &log->thinned_mask;
	if (!strcmp(path, "traceprof.heap.thinned_below"))
		number = &log->thinned_below;
	if (!strcmp(path, "traceprof.heap.has_spare"))
		log->has_spare = true;
	if (!strcmp(path, "traceprof.options.MALLOC"))
		log->has_large_alone = !strcmp(entry->value.text, "large");
	if (!strcmp(path, "traceprof.options.MALLOC_MIN"))
		number = &log->large_bytes;
	if (number)
		decimal_to_integer(entry->value.text, entry->value.len, number);
	if (strncmp(path, "traceprof.modules.", 18) || !last)
		return;
	if (!strcmp(last, ".path")) {
		text_buffer_cut(&log->module_path, 0);
		text_buffer_add(&log->module_path, entry->value.text,
				entry->value.len);
	} else if (!strcmp(last, ".build_id") && log->module_path.len) {
		source_finder_module(log->finder, log->module_path.data,
				     entry->value.text);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct heap_event *one = a, *other = b;

	if (one->ts_ns != other->ts_ns)
		return one->ts_ns < other->ts_ns ? -1 : 1;
	return one->order < other->order ? -1 : 1;
}

static int by_row(const void *a, const void *b)
{
	const struct heap_part *one = a, *other = b;

	if (one->ts_ns != other->ts_ns)
		return one->ts_ns < other->ts_ns ? -1 : 1;
	return one->order < other->order ? -1 : 1;
}

static int by_step(const void *a, const void *b)
{
	const struct heap_step *one = a, *other = b;

	return (one->end_ns > other->end_ns) - (one->end_ns < other->end_ns);
}

/* What was drawn before fewer were is left out where the frees would be
 * missing; each block that stays stands for as many. */
static void take_thinned(struct heap_log *log)
{
	const int64_t most = log->thinned_below;
	size_t kept = 0;

	for (size_t at = 0; at < log->count; at++) {
		struct heap_event event = log->events[at];
		const bool is_small = event.bytes < most && -event.bytes < most;

		if (is_small && !log->spaces[event.space].type) {
			if (trace_sampled_block(event.address) &
			    (uint64_t)log->thinned_mask)
				continue;
			event.bytes *= log->thinned_mask + 1;
			event.blocks *= log->thinned_mask + 1;
			event.spare *= log->thinned_mask + 1;
		}
		log->events[kept++] = event;
	}
	log->count = kept;
}

/* Past TRACEPROF_MAX_MB no frees are there, past half of it none of small
 * blocks: all that is live would seem to stay. */
static void end_early(struct heap_log *log)
{
	const int64_t detail = log->metadata.detail_ended_ns;
	const int64_t small = log->metadata.small_blocks_ended_ns;
	size_t kept = 0;

	log->ended_ns =
		small >= 0 && (detail < 0 || small < detail) ? small : detail;
	if (log->ended_ns < 0)
		return;
	while (kept < log->count && log->events[kept].ts_ns < log->ended_ns)
		kept++;
	log->count = kept;
	if (log->end_ns > log->ended_ns)
		log->end_ns = log->ended_ns;
}

int heap_log_read(struct heap_log *log, const char *path, const char *debug_dir)
{
	const struct trace_sink sink = {on_event, on_entry, log};
	int rc;

	memset(log, 0, sizeof(*log));
	log->debug_dir = debug_dir;
	log->stacks.row_bytes = sizeof(struct heap_stack);
	log->frames.row_bytes = sizeof(struct heap_frame);
	log->finder = source_finder_new(debug_dir);
	trace_metadata_begin(&log->metadata);
	rc = trace_read(path, &sink, &log->facts);
	if (rc)
		return rc;
	if (log->thinned_mask > 0)
		take_thinned(log);
	if (log->count)
		qsort(log->events, log->count, sizeof(log->events[0]), by_time);
	if (!log->end_ns) {
		log->start_ns = log->first_ns;
		log->end_ns = log->last_ns;
	}
	end_early(log);
	if (log->row_count)
		qsort(log->rows, log->row_count, sizeof(log->rows[0]), by_row);
	if (log->step_count)
		qsort(log->steps, log->step_count, sizeof(log->steps[0]),
		      by_step);
	return 0;
}

static void swap(int64_t *one, int64_t *other)
{
	const int64_t kept = *one;

	*one = *other;
	*other = kept;
}

bool heap_log_count_asked(struct heap_log *log)
{
	for (size_t i = 0; i < log->count && log->has_spare; i++)
		log->events[i].bytes -= log->events[i].spare;
	for (size_t i = 0; i < log->row_count && log->has_spare; i++) {
		struct heap_part *row = &log->rows[i];

		row->bytes -= row->spare;
		row->live -= row->spare_live;
		row->peak -= row->spare_peak;
		row->peak_blocks -= row->spare_peak_blocks;
		swap(&row->peak_number, &row->other_number);
		swap(&row->peak_ns, &row->other_ns);
	}
	log->is_asked = log->has_spare;
	return log->has_spare;
}

const struct heap_stack *heap_log_stack(const struct heap_log *log,
					uint32_t stack)
{
	return stack ? key_table_row(&log->stacks, stack - 1) : NULL;
}

struct heap_frame *heap_log_frame(const struct heap_log *log,
				  const struct heap_stack *stack, size_t at)
{
	return key_table_row(&log->frames, log->frame_list[stack->first + at]);
}

void heap_log_resolve(struct heap_log *log, struct heap_frame *frame)
{
	struct source_frame found[SOURCE_FRAMES_MAX];

	if (frame->is_asked || !log->finder)
		return;
	frame->is_asked = true;
	frame->count =
		source_find(log->finder, frame->module, frame->address, found);
	if (!frame->count)
		return;
	frame->source = memory_zeroed(frame->count, sizeof(found[0]));
	memcpy(frame->source, found, frame->count * sizeof(found[0]));
}

/* The name of a C function that ends as an allocator's does. */
static bool ends_as_allocator(const char *function)
{
	static const char *const ends[] = {"malloc",   "calloc",  "realloc",
					   "strdup",   "strndup", "memalign",
					   "mem_alloc"};
	const size_t len = strlen(function);

	if (strspn(function, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") < len)
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t end = strlen(ends[i]);

		if (len >= end && !strcasecmp(function + len - end, ends[i]))
			return true;
	}
	return false;
}

static bool is_operator_new(const char *function)
{
	const char *name = strstr(function, "::operator new");

	return name && (!name[14] || name[14] == '[' || name[14] == '(');
}

static bool begins_as(const char *function, const char *const *begins,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(function, begins[i], strlen(begins[i])))
			return true;
	return false;
}

bool heap_frame_allocates_alone(const char *function)
{
	static const char *const begins[] = {
		"operator new",	    "reallocarray",    "aligned_alloc",
		"valloc",	    "pvalloc",	       "PyMem_",
		"_PyMem_",	    "PyObject_Malloc", "PyObject_Calloc",
		"PyObject_Realloc", "PyDataMem_",      "CRYPTO_zalloc",
		"sqlite3Malloc",    "sqlite3DbMalloc", "g_malloc",
		"g_realloc",	    "g_try_malloc",    "__rust_alloc",
	};

	return begins_as(function, begins,
			 sizeof(begins) / sizeof(begins[0])) ||
	       ends_as_allocator(function) || is_operator_new(function);
}

bool heap_frame_is_library(const char *function)
{
	static const char *const begins[] = {
		"__gnu_cxx::", "std::",	       "void std::", "alloc::",
		"<alloc::",    "core::",       "<core::",    "hashbrown::",
		"<std::",      "<hashbrown::", "__rustc::",
	};

	return begins_as(function, begins, sizeof(begins) / sizeof(begins[0]));
}

bool heap_frame_is_allocator(const char *function)
{
	return heap_frame_is_library(function) ||
	       !strncmp(function, "_PyObject_", strlen("_PyObject_")) ||
	       heap_frame_allocates_alone(function);
}

void heap_log_free(struct heap_log *log)
{
	for (size_t i = 0; i < log->frames.count; i++) {
		struct heap_frame *frame = key_table_row(&log->frames, i);

		free((char *)frame->module);
		free(frame->source);
	}
	free(log->events);
	free(log->rows);
	free(log->steps);
	free(log->frame_list);
	free(log->is_left_out);
	key_table_free(&log->stacks);
	key_table_free(&log->frames);
	trace_lanes_free(&log->lanes);
	text_buffer_free(&log->module_path);
	text_buffer_free(&log->heap_note);
	source_finder_free(log->finder);
}
