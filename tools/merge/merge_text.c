/* SPDX-License-Identifier: MIT */
/* merge_text.c - yajl's callbacks, handed on to yajl; see merge_text.h. */
#ifdef HAVE_YAJL

#include "tools/merge/merge_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "tools/trace/trace_input.h"
#include "tools/util/json_print.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define PIECE_BYTES (256u << 10)
/* Above any pid of the kernel's, and what side lanes are apart. */
#define PIDS_APART  10000000
/* A number of JavaScript's has 53 bits; arrows of one file have fewer. */
#define IDS_APART   40
#define PID_CHARS   80

/* Depths: the file's object, the array in it, an event. */
enum { IN_FILE = 1, IN_EVENTS, IN_EVENT };

struct pid {
	char text[PID_CHARS]; /* as the output has it */
	bool is_number;
};

struct reader {
	struct merge_output *output;
	unsigned int number; /* of the file */
	int64_t later_ns;    /* what times grow by */
	bool wants_events;   /* else what lies around them */
	unsigned int depth;
	bool is_event; /* inside of traceEvents */
	char key[32];  /* the last one of the file or of an event */
	struct key_table pids;
};

static bool is_taken(struct reader *reader)
{
	if (reader->wants_events)
		return reader->is_event;
	return !reader->is_event &&
	       (reader->depth > IN_FILE || strcmp(reader->key, "traceEvents"));
}

static bool is_field(const struct reader *reader, const char *name)
{
	return reader->wants_events && reader->is_event &&
	       reader->depth == IN_EVENT && !strcmp(reader->key, name);
}

/* Of a pid that is taken the next one that isn't. */
static void rename_pid(const struct reader *reader, struct pid *pid,
		       const char *text, size_t len)
{
	struct key_table *taken = &reader->output->taken;
	int64_t value = 0;

	pid->is_number = !decimal_to_integer(text, len, &value);
	snprintf(pid->text, sizeof(pid->text), "%.*s", (int)len, text);
	for (int more = 2; key_table_find(taken, pid->text, strlen(pid->text));
	     more++) {
		if (pid->is_number)
			snprintf(pid->text, sizeof(pid->text), "%" PRId64,
				 value += PIDS_APART);
		else
			snprintf(pid->text, sizeof(pid->text), "%.*s (%d)",
				 (int)(len < 60 ? len : 60), text, more);
	}
}

static const struct pid *pid_of(struct reader *reader, const char *text,
				size_t len)
{
	const size_t before = reader->pids.count;
	const uint32_t number = key_table_number(&reader->pids, text, len);
	struct pid *pid = key_table_row(&reader->pids, number);

	if (reader->pids.count > before)
		rename_pid(reader, pid, text, len);
	return pid;
}

static void put_id(const struct reader *reader, const char *text, size_t len)
{
	char made[96];
	int64_t value;

	if (!decimal_to_integer(text, len, &value) && value >= 0 &&
	    value < INT64_C(1) << IDS_APART) {
		snprintf(made, sizeof(made), "%" PRId64,
			 value + ((int64_t)reader->number << IDS_APART));
		yajl_gen_number(reader->output->gen, made, strlen(made));
		return;
	}
	snprintf(made, sizeof(made), "%.*s-%u", (int)(len < 60 ? len : 60),
		 text, reader->number);
	json_print_string(reader->output->gen, made);
}

static void put_time(const struct reader *reader, const char *text, size_t len)
{
	char made[48];
	int64_t ns;

	if (!reader->later_ns || decimal_to_ns(text, len, &ns)) {
		yajl_gen_number(reader->output->gen, text, len);
		return;
	}
	ns += reader->later_ns;
	snprintf(made, sizeof(made), "%s%" PRId64 ".%03" PRId64,
		 ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000,
		 (ns < 0 ? -ns : ns) % 1000);
	yajl_gen_number(reader->output->gen, made, strlen(made));
}

static int on_null(void *arg)
{
	struct reader *reader = arg;

	if (is_taken(reader))
		yajl_gen_null(reader->output->gen);
	return 1;
}

static int on_boolean(void *arg, int value)
{
	struct reader *reader = arg;

	if (is_taken(reader))
		yajl_gen_bool(reader->output->gen, value);
	return 1;
}

static int on_number(void *arg, const char *text, size_t len)
{
	struct reader *reader = arg;

	if (is_field(reader, "pid")) {
		const struct pid *pid = pid_of(reader, text, len);

		yajl_gen_number(reader->output->gen, pid->text,
				strlen(pid->text));
	} else if (is_field(reader, "ts")) {
		put_time(reader, text, len);
	} else if (is_field(reader, "id")) {
		put_id(reader, text, len);
	} else if (is_taken(reader)) {
		yajl_gen_number(reader->output->gen, text, len);
	}
	return 1;
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
	struct reader *reader = arg;

	if (is_field(reader, "pid"))
		json_print_string(
			reader->output->gen,
			pid_of(reader, (const char *)text, len)->text);
	else if (is_field(reader, "id"))
		put_id(reader, (const char *)text, len);
	else if (is_taken(reader))
		yajl_gen_string(reader->output->gen, text, len);
	return 1;
}

static int on_key(void *arg, const unsigned char *text, size_t len)
{
	struct reader *reader = arg;

	if (reader->depth == IN_FILE || reader->depth == IN_EVENT)
		snprintf(reader->key, sizeof(reader->key), "%.*s", (int)len,
			 (const char *)text);
	if (is_taken(reader))
		yajl_gen_string(reader->output->gen, text, len);
	return 1;
}

static int on_start_map(void *arg)
{
	struct reader *reader = arg;

	if (reader->depth++ && is_taken(reader))
		yajl_gen_map_open(reader->output->gen);
	return 1;
}

static int on_end_map(void *arg)
{
	struct reader *reader = arg;

	if (reader->depth > IN_FILE && is_taken(reader))
		yajl_gen_map_close(reader->output->gen);
	if (reader->is_event && reader->depth == IN_EVENT) {
		reader->output->events += reader->wants_events;
		if (reader->wants_events)
			reader->output->newline(reader->output->arg);
	}
	reader->depth--;
	return 1;
}

static int on_start_array(void *arg)
{
	struct reader *reader = arg;
	const bool begins =
		reader->depth == IN_FILE && !strcmp(reader->key, "traceEvents");

	if (!begins && is_taken(reader))
		yajl_gen_array_open(reader->output->gen);
	reader->is_event |= begins;
	reader->depth++;
	return 1;
}

static int on_end_array(void *arg)
{
	struct reader *reader = arg;

	reader->depth--;
	if (reader->is_event && reader->depth == IN_FILE)
		reader->is_event = false;
	else if (is_taken(reader))
		yajl_gen_array_close(reader->output->gen);
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end_map,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

static const char *read_all(struct reader *reader, const char *path)
{
	yajl_handle parser = yajl_alloc(&callbacks, NULL, reader);
	struct trace_input *input;
	const char *why = NULL;
	char *piece;
	long got = 0;

	if (!parser || trace_input_open(path, &input)) {
		yajl_free(parser);
		return "it can't be read";
	}
	yajl_config(parser, yajl_dont_validate_strings, 1);
	piece = memory_zeroed(1, PIECE_BYTES);
	while (!why && (got = trace_input_read(input, piece, PIECE_BYTES)) > 0)
		if (yajl_parse(parser, (unsigned char *)piece, (size_t)got) !=
		    yajl_status_ok)
			why = "it is no trace";
	if (!why && (got < 0 || yajl_complete_parse(parser) != yajl_status_ok))
		why = "it can't be read to its end";
	free(piece);
	trace_input_close(input);
	yajl_free(parser);
	return why;
}

/* Says whose a process is: pids alone don't tell ranks. */
static void name_process(const struct reader *reader, const struct pid *pid,
			 const struct merge_file *file)
{
	yajl_gen gen = reader->output->gen;
	char label[200];

	snprintf(label, sizeof(label), "file %u%s%s", reader->number + 1,
		 file->host ? ", " : "", file->host ? file->host : "");
	/* One alone is no rank of a job's. */
	if (file->rank >= 0 && file->ranks != 1)
		snprintf(label, sizeof(label), "rank %" PRId64 "%s%s",
			 file->rank, file->host ? ", " : "",
			 file->host ? file->host : "");
	for (int sorts = 0; sorts < 2; sorts++) {
		yajl_gen_map_open(gen);
		json_print_text(gen, "ph", "M");
		json_print_text(gen, "name",
				sorts ? "process_sort_index"
				      : "process_labels");
		json_print_string(gen, "pid");
		yajl_gen_number(gen, pid->text, strlen(pid->text));
		json_print_integer(gen, "tid", 0);
		json_print_object(gen, "args");
		if (sorts)
			json_print_integer(gen, "sort_index", reader->number);
		else
			json_print_text(gen, "labels", label);
		yajl_gen_map_close(gen);
		yajl_gen_map_close(gen);
		reader->output->newline(reader->output->arg);
	}
}

const char *merge_events(struct merge_output *output,
			 const struct merge_file *file, unsigned int number)
{
	struct reader reader = {.output = output,
				.number = number,
				.wants_events = true,
				.pids = {.row_bytes = sizeof(struct pid)}};
	const char *why;

	if (file->base_ns && output->base_ns)
		reader.later_ns = file->base_ns - output->base_ns;
	why = read_all(&reader, file->path);
	for (uint32_t at = 0; at < reader.pids.count; at++) {
		const struct pid *pid = key_table_row(&reader.pids, at);

		key_table_number(&output->taken, pid->text, strlen(pid->text));
		if (!why && pid->is_number)
			name_process(&reader, pid, file);
	}
	key_table_free(&reader.pids);
	return why;
}

const char *merge_rest(struct merge_output *output,
		       const struct merge_file *file)
{
	struct reader reader = {.output = output};

	return read_all(&reader, file->path);
}

#endif
