/* SPDX-License-Identifier: MIT */
/*
 * steps_command.c - `traceprof steps FILE...`: the loops in a trace, by the
 * same search that the library makes (writer/steps/loop_nest.h), and how to set
 * each of them as the step.
 *
 * Each thread's regions, its ranges, and its calls that put work on a GPU are a
 * stream of marks.  A mark's site is its name as the trace has it; a launch is
 * called after its kernel.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/control/search.h"
#include "collector/steps/step_file.h"
#include "tools/trace/trace_folder.h"
#include "tools/trace/trace_reader.h"
#include "tools/trace/trace_sampled.h"
#include "tools/util/command.h"
#include "tools/util/key_table.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/short_name.h"
#include "tools/util/text_buffer.h"
#include "tools/util/text_wrap.h"
#include "writer/steps/loop_nest.h"

/* Turns of a range that is called like a step. */
#define RANGE_TURNS 3u
/* Of a note. */
#define NOTE_BYTES  300u

/* One thread's marks of one family.  A call's note is the row of its
 * correlation in `work`, plus 1. */
struct stream {
	struct loop_mark *marks;
	size_t count;
	size_t capacity;
	uint32_t family;
	uint32_t lane;
	bool is_main;
	size_t outer; /* regions that lie in no team's */
	bool is_looked_at;
	struct loop_nest nest;
	bool has_step;
	bool is_called_so; /* by its ranges' names */
};

struct steps_arguments {
	int first;	    /* of the files in argv */
	const char *write;  /* the setting goes there, NULL nowhere */
	unsigned int level; /* whose, 0 the step's */
	size_t traces;	    /* in the files and folders */
	size_t shown;
	int code; /* the highest of them */
};

/* What a call put on the GPU. */
struct work {
	uint32_t kernel; /* its name's number, plus 1; 0 none yet */
};

struct steps_reader {
	struct trace_lanes lanes;
	struct stream *streams;
	size_t count;
	size_t capacity;
	struct key_table names;
	struct key_table work; /* struct work by correlation */
	uint64_t first, last;  /* from the first mark to the end of the last */
	struct text_buffer told; /* what the run said of its step */
	struct trace_sampled sampled;
	bool is_cut;	   /* TRACEPROF_MAX_MB ended the file's detail */
	bool leaves_teams; /* as step_finder.c does */
};

/* --- from events to marks ------------------------------------------------- */

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

static void take_event(void *arg, const struct trace_event *event)
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
	if (family == SEARCH_CALLS && work_of(reader, event, &row))
		mark->note = row + UINT64_C(1);
}

static void take_entry(void *arg, const struct trace_entry *entry)
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

static const char *name_of(const struct steps_reader *reader,
			   const struct loop_mark *mark)
{
	return key_table_key(&reader->names, mark->note - 1, NULL);
}

/* Each mark's name into its note, and its site: a launch's is its kernel;
 * numbers in a range's name don't count. */
static void resolve(struct steps_reader *reader, struct stream *stream)
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
			mark->id = search_name(NULL, name_of(reader, mark));
		if (mark->id)
			stream->marks[kept++] = *mark;
	}
	stream->count = kept;
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

/* --- what is found -------------------------------------------------------- */

/* A range that is called like a step is one, whatever else there is. */
static bool find_range(const struct steps_reader *reader, struct stream *stream)
{
	const struct loop_mark *marks = stream->marks;
	struct loop_level *level = &stream->nest.level[0];

	for (size_t at = 0; at < stream->count; at++) {
		if (!search_is_step_like(name_of(reader, &marks[at])))
			continue;
		*level = (struct loop_level){
			.id = marks[at].id, .begin = at, .first = at};
		for (size_t i = at; i < stream->count; i++) {
			level->turns += marks[i].id == level->id;
			level->last =
				marks[i].id == level->id ? i : level->last;
		}
		if (level->turns < RANGE_TURNS)
			continue;
		level->length = (level->last - at) / (level->turns - 1);
		level->ticks = (marks[level->last].ticks - marks[at].ticks) /
			       (level->turns - 1);
		stream->nest.count = 1;
		stream->nest.step = 0;
		return true;
	}
	return false;
}

static void look_at(struct steps_reader *reader, struct stream *stream)
{
	void *room;

	resolve(reader, stream);
	qsort(stream->marks, stream->count, sizeof(*stream->marks), compare);
	room = aligned_alloc(64, align_up(loop_nest_room(stream->count), 64));
	if (!room)
		abort();
	stream->has_step = !loop_nest_find(stream->marks, stream->count, room,
					   &stream->nest);
	stream->is_called_so =
		stream->family == SEARCH_RANGES && find_range(reader, stream);
	stream->has_step |= stream->is_called_so;
	free(room);
}

/* Regions that were thinned (TRACEPROF_MAX_OVERHEAD): what is drawn is every
 * Nth of some, in whose order there are loops that the program doesn't have. */
static int64_t thinned_regions(const struct steps_reader *reader)
{
	int64_t thinned = 0;

	for (size_t i = 0; i < reader->sampled.count; i++) {
		const struct trace_sampled_row *row = &reader->sampled.rows[i];

		if (row->part && !strcmp(row->part, "parallel"))
			saturate_into(&thinned, row->thinned);
	}
	return thinned;
}

/* As the library does: the main thread's first, then larger ones. */
static struct stream *next_stream(struct steps_reader *reader)
{
	struct stream *next = NULL;

	for (size_t i = 0; i < reader->count; i++) {
		struct stream *stream = &reader->streams[i];

		if (stream->is_looked_at)
			continue;
		if (!next || (stream->is_main != next->is_main
				      ? stream->is_main
				      : stream->count > next->count))
			next = stream;
	}
	return next;
}

/* The stream that tells the step, NULL none. */
static struct stream *choose(struct steps_reader *reader)
{
	struct stream *chosen = NULL;
	struct stream *next;
	size_t most = 0;

	for (size_t i = 0; i < reader->count; i++) {
		next = &reader->streams[i];
		if (reader->leaves_teams)
			next->count =
				loop_leave_teams(next->marks, next->count);
		most = max_u64(most, next->count);
	}
	while ((next = next_stream(reader))) {
		next->is_looked_at = true;
		if (next->family == SEARCH_REGIONS && thinned_regions(reader))
			continue;
		look_at(reader, next);
		if (next->has_step &&
		    (chosen ? next->is_called_so && !chosen->is_called_so
			    : next->is_called_so || next->count * 4 >= most))
			chosen = next;
	}
	return chosen;
}

/* --- how it is set -------------------------------------------------------- */

static bool is_plain(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) &&
		    !strchr("_:. ", name[i]))
			return false;
	}
	return len > 0;
}

/* "update [omp parallel #1]" is omp:update, if that has no other region. */
static size_t function_len(const struct steps_reader *reader, const char *name)
{
	const char *kind = strstr(name, " [omp parallel");
	const size_t len = kind ? (size_t)(kind - name) : 0;
	size_t alike = 0;

	for (size_t i = 0; len && i < reader->names.count; i++) {
		const char *other = key_table_key(&reader->names, i, NULL);

		alike += !strncmp(other, name, len) &&
			 !strncmp(other + len, " [omp parallel", 14);
	}
	return alike == 1 ? len : 0;
}

/* What sets it without a file; false: nothing does. */
static bool setting(const struct steps_reader *reader,
		    const struct stream *stream, const struct loop_level *level,
		    struct text_buffer *text)
{
	const char *name = name_of(reader, &stream->marks[level->first]);
	const bool is_call =
		strncmp(name, "cuda", 4) == 0 || strncmp(name, "cu", 2) == 0;
	size_t len = strlen(name);

	if (level->context || stream->family == SEARCH_RANGES)
		return false;
	if (stream->family == SEARCH_REGIONS)
		len = function_len(reader, name);
	if (!is_plain(name, len))
		return false;
	text_buffer_cut(text, 0);
	text_buffer_format(text, "%s:%.*s",
			   stream->family == SEARCH_REGIONS ? "omp"
			   : is_call			    ? "cuda"
							    : "kernel",
			   (int)len, name);
	return true;
}

static int write_setting(const struct steps_reader *reader,
			 const struct stream *stream,
			 const struct loop_level *level, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		return EXIT_UNREADABLE;
	}
	fprintf(file, "auto\n%s\n", step_file_family(stream->family));
	for (size_t i = 0; i <= level->context; i++)
		fprintf(file, "%s\n",
			name_of(reader, &stream->marks[level->first -
						       level->context + i]));
	return fclose(file) ? EXIT_UNREADABLE : EXIT_GOOD;
}

/* One line. */
#define say(...) text_wrap_print(stdout, 2, __VA_ARGS__)

/* --- words ---------------------------------------------------------------- */

static const char *kind_of(uint32_t family)
{
	static const char *const words[] = {"OpenMP regions", "ranges",
					    "CUDA calls and kernels"};

	return words[family];
}

/* The outermost first. */
static int depth_of(const struct loop_nest *nest, size_t at)
{
	return 2 * (int)(nest->count - 1 - at);
}

static void print_level(const struct steps_reader *reader,
			const struct stream *stream, size_t at,
			unsigned int number, bool is_step,
			struct text_buffer *text)
{
	const struct loop_level *level = &stream->nest.level[at];
	const struct loop_mark *marks = stream->marks;
	const double whole = (double)(reader->last - reader->first);
	const double span = (double)(marks[level->last].end_ticks -
				     marks[level->begin].ticks);
	const int depth = depth_of(&stream->nest, at);

	text_buffer_cut(text, 0);
	short_name_add(text, name_of(reader, &marks[level->first]));
	text_wrap_print(
		stdout, (unsigned int)depth + 7,
		"%3u  %*s%s%zu x %s, %s, %s of the time, %zu mark%s each\n",
		number, depth, "", is_step ? "step: " : "", level->turns,
		text->data, quantity_time((double)level->ticks).text,
		quantity_share(span, whole).text, level->length,
		level->length == 1 ? "" : "s");
	if (setting(reader, stream, level, text))
		printf("     %*s  TRACEPROF_STEP=%s\n", depth, "", text->data);
	else if (level->context)
		printf("     %*s  told by the %u before it, too: --level=%u "
		       "--output=PATH\n",
		       depth, "", level->context, number);
	else
		printf("     %*s  --level=%u --output=PATH\n", depth, "",
		       number);
}

/* The level that is to be written. */
struct wanted_level {
	const struct stream *stream;
	const struct loop_level *level;
};

static unsigned int print_stream(const struct steps_reader *reader,
				 const struct stream *stream,
				 const struct stream *chosen,
				 unsigned int number, unsigned int asked,
				 struct wanted_level *wanted)
{
	const struct loop_nest *nest = &stream->nest;
	struct text_buffer text = {0};

	if (!nest->count)
		return number;
	printf("%s of %s:\n", kind_of(stream->family),
	       key_table_key(&reader->lanes.table, stream->lane, NULL));
	for (size_t at = nest->count; at; at--) {
		const bool is_step = stream == chosen && at - 1 == nest->step;

		number++;
		print_level(reader, stream, at - 1, number, is_step, &text);
		if (asked ? number == asked : is_step)
			*wanted = (struct wanted_level){stream,
							&nest->level[at - 1]};
	}
	text_buffer_free(&text);
	return number;
}

/* The run said the same: the marker's name stands in its line, without what a
 * region's has behind it. */
static bool is_told(const struct steps_reader *reader,
		    const struct stream *chosen)
{
	const struct loop_level *step = &chosen->nest.level[chosen->nest.step];
	const char *name = name_of(reader, &chosen->marks[step->first]);
	const char *end = strstr(name, " [");
	struct text_buffer quoted = {0};
	bool is_same;

	text_buffer_add(&quoted, "\"", 1);
	text_buffer_add(&quoted, name,
			end ? (size_t)(end - name) : strlen(name));
	is_same = strstr(reader->told.data, quoted.data);
	text_buffer_free(&quoted);
	return is_same;
}

static int show(struct steps_reader *reader,
		const struct steps_arguments *arguments)
{
	struct wanted_level wanted = {0};
	struct stream *chosen;
	unsigned int number = 0;

	chosen = choose(reader);
	for (size_t i = 0; i < reader->count; i++)
		number = print_stream(reader, &reader->streams[i], chosen,
				      number, arguments->level, &wanted);
	if (reader->is_cut)
		say("the file's detail ended before the run "
		    "(TRACEPROF_MAX_MB): loops are of the part before that\n");
	if (thinned_regions(reader))
		say("%lld regions were thinned: those in the file "
		    "don't tell the loops; "
		    "TRACEPROF_MAX_OVERHEAD=0 records all\n",
		    (long long)thinned_regions(reader));
	else if (!number)
		say("no loop: there are too few regions, ranges "
		    "and CUDA calls, or they come in no order\n");
	if (reader->told.len && !(chosen && is_told(reader, chosen)))
		say("the run, which read the program's code, too: "
		    "%s\n",
		    reader->told.data);
	else if (!chosen)
		say("no step: traceprof_step() in the loop marks "
		    "one%s\n",
		    number ? ", or set one of the above" : "");
	if (arguments->level > number) {
		fprintf(stderr, "traceprof steps: there is no level %u\n",
			arguments->level);
		return EXIT_USAGE;
	}
	if (arguments->write && wanted.level)
		return write_setting(reader, wanted.stream, wanted.level,
				     arguments->write);
	return chosen || wanted.level || reader->told.len ? EXIT_GOOD
							  : EXIT_FOUND;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct steps_arguments *arguments = state->input;
	char *end;

	switch (key) {
	case 'o': arguments->write = text; return 0;
	case 'l':
		arguments->level = (unsigned int)strtoul(text, &end, 10);
		if (!arguments->level || *end)
			argp_error(state, "--level takes a number from 1");
		return 0;
	default: return command_parse_files(key, text, state);
	}
}

static void steps_reader_free(struct steps_reader *reader)
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

static void show_trace(struct steps_arguments *arguments, const char *path)
{
	struct steps_reader reader = {.work.row_bytes = sizeof(struct work),
				      .first = UINT64_MAX};
	const struct trace_sink sink = {
		.event = take_event, .entry = take_entry, .arg = &reader};
	struct trace_facts facts;
	int code = EXIT_UNREADABLE;

	if (trace_read(path, &sink, &facts)) {
		fprintf(stderr, "traceprof steps: %s: %s\n", path, facts.error);
	} else {
		if (arguments->traces > 1)
			printf("%s%s\n", arguments->shown++ ? "\n" : "", path);
		code = show(&reader, arguments);
	}
	if (code > arguments->code)
		arguments->code = code;
	steps_reader_free(&reader);
}

int steps_command(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"level", 'l', "NUMBER", 0,
		 "The level of this number instead of the step", 0},
		{"output", 'o', "PATH", 0,
		 "Write the step's setting to PATH: a run takes it over with "
		 "TRACEPROF_STEP=@PATH",
		 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "FILE|FOLDER...",
		.doc = "Show the loops that a trace tells of, the outermost "
		       "first, and how to set each of them as the step.\vFILE "
		       "is the trace of a whole run, FOLDER holds some.  "
		       "--level and --output take one trace.  Ends with 1 "
		       "when there is no step.",
	};
	struct steps_arguments arguments = {0};
	struct trace_list list;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("steps");
	if (trace_list_make(&list, "steps", &argv[arguments.first],
			    argc - arguments.first))
		arguments.code = EXIT_UNREADABLE;
	arguments.traces = list.count;
	if (list.count > 1 && (arguments.level || arguments.write)) {
		fprintf(stderr,
			"traceprof steps: --level and --output take one trace, "
			"there are %zu\n",
			list.count);
		arguments.code = EXIT_USAGE;
	} else {
		for (size_t at = 0; at < list.count; at++)
			show_trace(&arguments, list.files[at]);
	}
	trace_list_free(&list);
	return arguments.code;
}
