/* SPDX-License-Identifier: MIT */
/*
 * steps_command.c - `traceprof steps FILE`: the loops in a trace, by the same
 * search that the library makes (writer/steps/loop_nest.h), and how to set each
 * of them as the step.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/trace_reader.h"
#include "tools/util/command.h"
#include "tools/util/key_table.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "writer/steps/loop_nest.h"

/* One thread's regions. */
struct lane_marks {
	struct loop_mark *marks;
	size_t count;
	size_t capacity;
};

struct steps_arguments {
	int first;	   /* of the files in argv */
	const char *write; /* the setting goes there, NULL nowhere */
};

struct steps_reader {
	struct trace_lanes lanes;
	struct lane_marks *of; /* each lane */
	size_t count;
	size_t capacity;
	struct key_table names;
};

/* "update [omp parallel #1]" is called update. */
static size_t name_len(struct trace_value name)
{
	const char *kind = strstr(name.text, " [omp parallel");

	return kind ? (size_t)(kind - name.text) : name.len;
}

static struct lane_marks *lane_of(struct steps_reader *reader,
				  const struct trace_event *event)
{
	const uint32_t number = trace_lanes_number(&reader->lanes, event);

	while (reader->count <= number) {
		reader->of =
			memory_grow(reader->of, reader->count,
				    &reader->capacity, sizeof(*reader->of));
		reader->of[reader->count++] = (struct lane_marks){0};
	}
	return &reader->of[number];
}

static void take_event(void *arg, const struct trace_event *event)
{
	struct steps_reader *reader = arg;
	const struct trace_value omp = trace_event_arg(event, "omp");
	struct lane_marks *lane;
	struct loop_mark *mark;

	if (!trace_event_is_slice(event) || !trace_value_is(&omp, "parallel"))
		return;
	lane = lane_of(reader, event);
	lane->marks = memory_grow(lane->marks, lane->count, &lane->capacity,
				  sizeof(*lane->marks));
	mark = &lane->marks[lane->count++];
	*mark = (struct loop_mark){
		.id = 1 + key_table_number(&reader->names,
					   event->field[FIELD_NAME].text,
					   name_len(event->field[FIELD_NAME])),
		.ticks = (uint64_t)event->ts_ns,
		.end_ticks = (uint64_t)(event->ts_ns + event->dur_ns)};
}

static void take_entry(void *arg, const struct trace_entry *entry)
{
	(void)arg;
	(void)entry;
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

static struct lane_marks *busiest(struct steps_reader *reader)
{
	struct lane_marks *most = NULL;

	for (size_t i = 0; i < reader->count; i++) {
		struct lane_marks *lane = &reader->of[i];

		if (!most || lane->count > most->count)
			most = lane;
	}
	return most;
}

static const char *name_of(const struct steps_reader *reader,
			   const struct loop_level *level)
{
	return key_table_key(&reader->names, level->id - 1, NULL);
}

static void print_level(const struct steps_reader *reader,
			const struct lane_marks *lane,
			const struct loop_nest *nest, size_t at)
{
	const struct loop_level *level = &nest->level[at];
	const double whole = (double)(lane->marks[lane->count - 1].end_ticks -
				      lane->marks[0].ticks);
	const double span = (double)(lane->marks[level->last].end_ticks -
				     lane->marks[level->begin].ticks);
	const bool is_step = at == nest->step;

	printf("%*s%s%zu x %s, %s, %s of the time, %zu regions each\n",
	       (int)(2 * (nest->count - 1 - at)), "", is_step ? "step: " : "",
	       level->turns, name_of(reader, level),
	       quantity_time((double)level->ticks).text,
	       quantity_share(span, whole).text, level->length);
	if (level->context)
		printf("%*s  by the %u regions before it: found by "
		       "TRACEPROF_STEP=auto alone\n",
		       (int)(2 * (nest->count - 1 - at)), "", level->context);
	else
		printf("%*s  TRACEPROF_STEP=omp:%s\n",
		       (int)(2 * (nest->count - 1 - at)), "",
		       name_of(reader, level));
}

static int write_setting(const struct steps_reader *reader,
			 const struct loop_level *step, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		return EXIT_UNREADABLE;
	}
	if (step->context)
		fputs("auto\n", file);
	else
		fprintf(file, "omp:%s\n", name_of(reader, step));
	return fclose(file) ? EXIT_UNREADABLE : EXIT_GOOD;
}

static int show(struct steps_reader *reader, const char *write)
{
	struct lane_marks *lane = busiest(reader);
	struct loop_nest nest;
	void *room;
	int rc;

	if (!lane) {
		puts("no OpenMP regions: there is nothing that tells of loops");
		return EXIT_FOUND;
	}
	qsort(lane->marks, lane->count, sizeof(*lane->marks), compare);
	room = aligned_alloc(64, align_up(loop_nest_room(lane->count), 64));
	if (!room)
		abort();
	rc = loop_nest_find(lane->marks, lane->count, room, &nest);
	free(room);
	for (size_t at = nest.count; at; at--)
		print_level(reader, lane, &nest, at - 1);
	if (rc) {
		puts("no step: TRACEPROF_STEP=omp:NAME sets one, or "
		     "traceprof_step() in the loop");
		return EXIT_FOUND;
	}
	return write ? write_setting(reader, &nest.level[nest.step], write)
		     : EXIT_GOOD;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct steps_arguments *arguments = state->input;

	if (key == 'o') {
		arguments->write = text;
		return 0;
	}
	return command_parse_files(key, text, state);
}

int steps_command(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"output", 'o', "PATH", 0,
		 "Write the step's setting to PATH: a run takes it over with "
		 "TRACEPROF_STEP=@PATH",
		 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "FILE",
		.doc = "Show the loops that a trace tells of, the outermost "
		       "first, and how to set each of them as the step.\vFILE "
		       "is the trace of a whole run.  Ends with 1 when there "
		       "is no step.",
	};
	struct steps_reader reader = {0};
	const struct trace_sink sink = {
		.event = take_event, .entry = take_entry, .arg = &reader};
	struct steps_arguments arguments = {0};
	struct trace_facts facts;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("steps");
	if (trace_read(argv[arguments.first], &sink, &facts)) {
		fprintf(stderr, "traceprof steps: %s: %s\n",
			argv[arguments.first], facts.error);
		return EXIT_UNREADABLE;
	}
	return show(&reader, arguments.write);
}
