/* SPDX-License-Identifier: MIT */
/*
 * steps_command.c - `traceprof steps FILE...`: the loops in a trace, by the
 * same search that the library makes (writer/loops/loop_nest.h), and how to set
 * each of them as the step.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/control/search.h"
#include "collector/steps/step_file.h"
#include "tools/steps_streams.h"
#include "tools/trace/trace_folder.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/command.h"
#include "tools/util/key_table.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/short_name.h"
#include "tools/util/text_buffer.h"
#include "tools/util/text_wrap.h"
#include "writer/loops/loop_named.h"
#include "writer/loops/loop_nest.h"
#include "writer/loops/loop_shell.h"

struct steps_arguments {
	int first;	    /* of the files in argv */
	const char *write;  /* the setting goes there, NULL nowhere */
	unsigned int level; /* whose, 0 the step's */
	size_t traces;	    /* in the files and folders */
	size_t shown;
	int code; /* the highest of them */
};

/* --- what is found -------------------------------------------------------- */

/* A range that is called like a step is one, whatever else there is. */
static bool find_range(struct stream *stream)
{
	struct loop_level level;

	if (!loop_named_find(stream->marks, stream->count, true, &level))
		return false;
	stream->nest.level[0] = level;
	stream->nest.count = 1;
	stream->nest.step = 0;
	return true;
}

static void look_at(struct steps_reader *reader, struct stream *stream)
{
	void *room;

	steps_resolve(reader, stream);
	room = aligned_alloc(64, align_up(loop_nest_room(stream->count), 64));
	if (!room)
		abort();
	stream->has_step = !loop_nest_find(stream->marks, stream->count, room,
					   &stream->nest);
	if (stream->has_step && stream->family == SEARCH_RANGES)
		loop_shell_take(stream->marks, stream->count,
				&stream->nest.level[stream->nest.step]);
	stream->is_called_so =
		stream->family == SEARCH_RANGES && find_range(stream);
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

/* All marks of a name as the one level of a stream, of which each `every`th
 * ends a turn.  False: it has none. */
static bool find_named(const struct steps_reader *reader, struct stream *stream,
		       const char *name, size_t len, size_t every)
{
	const struct loop_mark *marks = stream->marks;
	struct loop_level level = {.every = every};

	for (size_t i = 0; i < stream->count; i++) {
		const char *other = steps_name_of(reader, &marks[i]);

		if (strncmp(other, name, len) != 0 || other[len])
			continue;
		if (!level.turns++)
			level.first = level.begin = i;
		level.id = marks[i].id;
		level.last = i;
	}
	level.turns /= every;
	if (level.turns < 2)
		return false;
	level.length = (level.last - level.first) / (level.turns - 1);
	level.ticks = (marks[level.last].ticks - marks[level.first].ticks) /
		      (level.turns - 1);
	stream->nest = (struct loop_nest){.count = 1, .level = {level}};
	stream->has_step = true;
	return true;
}

/* The optimizer of PyTorch's whose range the run said is the step: its stream,
 * NULL: it said something else. */
static struct stream *told_optimizer(struct steps_reader *reader)
{
	static const char start[] = "step = range \"Optimizer.step#";
	const char *told = reader->told.data;
	const char *name, *end;
	size_t every = 1;

	if (!reader->told.len || strncmp(told, start, sizeof(start) - 1) != 0)
		return NULL;
	name = strchr(told, '"') + 1;
	end = strchr(name, '"');
	if (!end)
		return NULL;
	if (!strncmp(end, "\", one in ", 10))
		every = strtoul(end + 10, NULL, 10);
	for (size_t i = 0; i < reader->count && every; i++) {
		struct stream *stream = &reader->streams[i];

		if (stream->family == SEARCH_RANGES && stream->is_looked_at &&
		    find_named(reader, stream, name, (size_t)(end - name),
			       every))
			return stream;
	}
	return NULL;
}

/* The stream that tells the step, NULL none. */
static struct stream *choose(struct steps_reader *reader)
{
	struct stream *chosen = NULL;
	struct stream *next, *told;
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
	told = told_optimizer(reader);
	return told ? told : chosen;
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
	const char *name = steps_name_of(reader, &stream->marks[level->first]);
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
	fputs("auto", file);
	if (level->every > 1)
		fprintf(file, "/%zu", level->every);
	fprintf(file, "\n%s\n", step_file_family(stream->family));
	for (size_t i = 0; i <= level->context; i++)
		fprintf(file, "%s\n",
			steps_name_of(reader,
				      &stream->marks[level->first -
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
	/* The search may have measured it by another mark of the same turns. */
	const uint64_t apart = level->every > 1
				       ? level->ticks
				       : loop_level_period(level, marks);
	const int depth = depth_of(&stream->nest, at);

	text_buffer_cut(text, 0);
	short_name_add(text, steps_name_of(reader, &marks[level->first]));
	if (level->every > 1)
		text_buffer_format(text, " (one in %zu)", level->every);
	text_wrap_print(
		stdout, (unsigned int)depth + 7,
		"%3u  %*s%s%zu x %s, %s, %s of the time, %zu mark%s each\n",
		number, depth, "", is_step ? "step: " : "", level->turns,
		text->data, quantity_time((double)apart).text,
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
	const char *name = steps_name_of(reader, &chosen->marks[step->first]);
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

static int compare_ids(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left;
	const uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* What comes most of all marks, as a level of so many turns. */
static struct loop_level most_frequent(const struct stream *stream)
{
	uint64_t *ids = memory_resize(NULL, stream->count, sizeof(*ids));
	struct loop_level most = {0};

	for (size_t i = 0; i < stream->count; i++)
		ids[i] = stream->marks[i].id;
	qsort(ids, stream->count, sizeof(*ids), compare_ids);
	for (size_t i = 0, run = 0; i < stream->count; i++) {
		run = i && ids[i] == ids[i - 1] ? run + 1 : 1;
		if (run > most.turns)
			most = (struct loop_level){.id = ids[i], .turns = run};
	}
	while (stream->marks[most.first].id != most.id)
		most.first++;
	free(ids);
	return most;
}

/* One site over and over is none by itself, but may be the step. */
static void say_no_loop(const struct steps_reader *reader)
{
	const struct stream *largest = NULL;
	struct text_buffer text = {0};
	struct loop_level most;
	bool is_set;

	for (size_t i = 0; i < reader->count; i++) {
		if (!largest || reader->streams[i].count > largest->count)
			largest = &reader->streams[i];
	}
	if (!largest || largest->count < LOOP_HITS_LEAST) {
		say("no loop: there are too few regions, ranges "
		    "and CUDA calls\n");
		return;
	}
	most = most_frequent(largest);
	is_set = setting(reader, largest, &most, &text);
	say("no loop of several %s; what comes most is %zu x %s%s%s\n",
	    kind_of(largest->family), most.turns,
	    steps_name_of(reader, &largest->marks[most.first]),
	    is_set ? ": TRACEPROF_STEP=" : "", is_set ? text.data : "");
	text_buffer_free(&text);
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
		say_no_loop(reader);
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

static void show_trace(struct steps_arguments *arguments, const char *path)
{
	struct steps_reader reader = steps_reader_new();
	const struct trace_sink sink = {.event = steps_take_event,
					.entry = steps_take_entry,
					.arg = &reader};
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
