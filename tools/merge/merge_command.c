/* SPDX-License-Identifier: MIT */
/*
 * merge_command.c - `traceprof merge FILE|FOLDER...`: the traces of several
 * processes as one that viewers open.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/merge/merge_text.h"
#include "tools/trace/trace_folder.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/command.h"
#include "tools/util/json_print.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

#define OUTPUT "merged.pt.trace.json.gz"

struct merge_arguments {
	int first; /* of the files in argv */
	const char *output;
};

#ifdef HAVE_YAJL

static void on_event(void *arg, const struct trace_event *event)
{
	(void)arg;
	(void)event;
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct merge_file *file = arg;
	const struct trace_value *value = &entry->value;

	if (!strcmp(entry->path, "baseTimeNanoseconds"))
		decimal_to_integer(value->text, value->len, &file->base_ns);
	else if (!strcmp(entry->path, "distributedInfo.rank"))
		decimal_to_integer(value->text, value->len, &file->rank);
	else if (!strcmp(entry->path, "distributedInfo.world_size"))
		decimal_to_integer(value->text, value->len, &file->ranks);
	else if (!strcmp(entry->path, "host_name") && !file->host)
		file->host = strdup(value->text);
}

/* It is read once to know that it is whole: of one that isn't nothing shall be
 * in the output. */
static int look(struct merge_file *file)
{
	const struct trace_sink sink = {on_event, on_entry, file};
	struct trace_facts facts;

	if (!trace_read(file->path, &sink, &facts))
		return 0;
	fprintf(stderr, "traceprof merge: %s: %s\n", file->path, facts.error);
	return -1;
}

static void to_gzip(void *arg, const char *text, size_t len)
{
	gzwrite(arg, text, (unsigned int)len);
}

static void newline(void *arg)
{
	gzwrite(arg, "\n", 1);
}

static const char *put_all(struct merge_output *output,
			   const struct merge_file *files, unsigned int count)
{
	yajl_gen gen = output->gen;
	const char *why = NULL;

	yajl_gen_map_open(gen);
	json_print_integer(gen, "schemaVersion", 1);
	json_print_text(gen, "displayTimeUnit", "ms");
	if (output->base_ns)
		json_print_integer(gen, "baseTimeNanoseconds", output->base_ns);
	json_print_object(gen, "distributedInfo");
	json_print_text(gen, "backend", "");
	json_print_string(gen, "rank");
	yajl_gen_number(gen, " 0", 2); /* HTA looks for the blank */
	json_print_integer(gen, "world_size", count);
	yajl_gen_map_close(gen);
	json_print_list(gen, "deviceProperties");
	yajl_gen_array_close(gen);
	json_print_list(gen, "traceEvents");
	for (unsigned int at = 0; at < count && !why; at++)
		why = merge_events(output, &files[at], at);
	yajl_gen_array_close(gen);
	json_print_list(gen, "merged");
	for (unsigned int at = 0; at < count && !why; at++) {
		yajl_gen_map_open(gen);
		why = merge_rest(output, &files[at]);
		yajl_gen_map_close(gen);
		newline(output->arg);
	}
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
	return why;
}

/* Beside its place, then there: nobody sees half of it. */
static const char *write_output(struct merge_output *output, const char *path,
				const struct merge_file *files,
				unsigned int count)
{
	const mode_t mask = umask(0);
	struct text_buffer name = {0};
	const char *why = NULL;
	gzFile out;
	int fd;

	umask(mask);
	text_buffer_format(&name, "%s.XXXXXX", path);
	fd = mkstemp(name.data);
	out = fd < 0 ? NULL : gzdopen(fd, "wb6");
	output->gen = yajl_gen_alloc(NULL);
	if (!out || !output->gen) {
		why = strerror(errno);
	} else {
		output->arg = out;
		output->newline = newline;
		yajl_gen_config(output->gen, yajl_gen_print_callback, to_gzip,
				out);
		why = put_all(output, files, count);
		if (fchmod(fd, 0666 & ~mask))
			why = strerror(errno);
		if (gzclose(out) != Z_OK && !why)
			why = "it can't be written: is the disk full?";
		if (!why && rename(name.data, path))
			why = strerror(errno);
	}
	if (why && fd >= 0)
		unlink(name.data);
	if (output->gen)
		yajl_gen_free(output->gen);
	text_buffer_free(&name);
	return why;
}

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int merge(char **paths, unsigned int count, const char *path)
{
	struct merge_file *files = memory_zeroed(count, sizeof(*files));
	struct merge_output output = {.taken = {.row_bytes = 1}};
	const char *why = NULL;
	int code = EXIT_GOOD;

	for (unsigned int at = 0; at < count && code == EXIT_GOOD; at++) {
		files[at] = (struct merge_file){.path = paths[at], .rank = -1};
		if (is_same_file(paths[at], path)) {
			fprintf(stderr,
				"traceprof merge: %s is an input, too: name "
				"another file with --output\n",
				path);
			code = EXIT_USAGE;
		} else if (look(&files[at])) {
			code = EXIT_UNREADABLE;
		}
		if (!output.base_ns)
			output.base_ns = files[at].base_ns;
	}
	if (code == EXIT_GOOD)
		why = write_output(&output, path, files, count);
	if (why) {
		fprintf(stderr, "traceprof merge: %s: %s\n", path, why);
		code = EXIT_UNREADABLE;
	} else if (code == EXIT_GOOD) {
		printf("%s: %llu events of %u file%s\n", path,
		       (unsigned long long)output.events, count,
		       count == 1 ? "" : "s");
	}
	for (unsigned int at = 0; at < count; at++)
		free(files[at].host);
	key_table_free(&output.taken);
	free(files);
	return code;
}

#else

static int merge(char **paths, unsigned int count, const char *path)
{
	(void)paths;
	(void)count;
	(void)path;
	return command_needs_yajl("merge");
}

#endif

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct merge_arguments *arguments = state->input;

	if (key == 'o') {
		arguments->output = text;
		return 0;
	}
	return command_parse_files(key, text, state);
}

int merge_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"output", 'o', "FILE", 0, "write here (" OUTPUT ")", 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE|FOLDER...",
		.doc = "Makes one trace of several: of the ranks of a job, of "
		       "a program and its workers.\vProcesses are named by "
		       "rank and host. Ends with 3 when a file cannot be read "
		       "or written.",
	};
	struct merge_arguments arguments = {.output = OUTPUT};

	struct trace_list list;
	int code = EXIT_UNREADABLE;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_list_make(&list, "merge", argv + arguments.first,
			     argc - arguments.first))
		code = merge(list.files, (unsigned int)list.count,
			     arguments.output);
	trace_list_free(&list);
	return code;
}
