/* SPDX-License-Identifier: MIT */
/*
 * symbolize_command.c - `traceprof symbolize FILE...`: writes functions, files
 * and lines into a trace's call stacks, so that it can be read anywhere.
 *
 * A frame "module(0x1234): function" becomes "file(line): function", and one
 * that code was inlined into becomes several, as torch.profiler has them.  The
 * new file takes the old one's place by rename.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tools/symbols/source_lines.h"
#include "tools/trace/trace_folder.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

#define PIECE_BYTES (256u << 10)

static const char STACK_KEY[] = "\"Call stack\":\"";

struct symbolize_arguments {
	int first; /* of the files in argv */
	bool has_failed;
	const char *debug_dir, *output;
};

struct symbolize {
	struct source_finder *finder;
	struct text_buffer module_path;
	struct text_buffer line, made;
	uint64_t frames, named; /* of them, with a line */
	gzFile out;
	const char *why; /* NULL good */
};

static void on_event(void *arg, const struct trace_event *event)
{
	struct symbolize *symbolize = arg;
	int64_t pid;

	if (!event->index &&
	    !decimal_to_integer(event->field[FIELD_PID].text,
				event->field[FIELD_PID].len, &pid))
		source_finder_process(symbolize->finder, pid);
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct symbolize *symbolize = arg;
	const char *last = strrchr(entry->path, '.');

	if (strncmp(entry->path, "traceprof.modules.", 18) != 0 || !last)
		return;
	if (!strcmp(last, ".path")) {
		text_buffer_cut(&symbolize->module_path, 0);
		text_buffer_add(&symbolize->module_path, entry->value.text,
				entry->value.len);
	} else if (!strcmp(last, ".build_id") && symbolize->module_path.len) {
		source_finder_module(symbolize->finder,
				     symbolize->module_path.data,
				     entry->value.text);
	}
}

/* The inside of a JSON string; files and functions are short. */
static void add_text(struct text_buffer *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			text_buffer_add(to, "\\", 1);
		/* A ";" would part the frame. */
		if ((unsigned char)*text < ' ' || *text == ';')
			text_buffer_add(to, "_", 1);
		else
			text_buffer_add(to, text, 1);
	}
}

static void add_frame(struct symbolize *symbolize, const char *frame,
		      size_t len)
{
	struct source_frame found[SOURCE_FRAMES_MAX];
	struct text_buffer *made = &symbolize->made;
	const char *open = memmem(frame, len, "(0x", 3);
	const char *name = memmem(frame, len, "): ", 3);
	size_t count = 0;
	char *module;

	symbolize->frames++;
	if (open && name) {
		module = strndup(frame, (size_t)(open - frame));
		count = source_find(symbolize->finder, module,
				    strtoull(open + 3, NULL, 16), found);
		free(module);
	}
	if (!count) {
		text_buffer_add(made, frame, len);
		return;
	}
	symbolize->named += found[0].file != NULL;
	for (size_t i = 0; i < count; i++) {
		if (i)
			text_buffer_add(made, ";", 1);
		if (found[i].file) {
			add_text(made, found[i].file);
			text_buffer_format(made, "(%d): ", found[i].line);
		} else {
			text_buffer_add(made, frame,
					(size_t)(name + 3 - frame));
		}
		if (found[i].function)
			add_text(made, found[i].function);
		else
			text_buffer_add(made, name + 3,
					len - (size_t)(name + 3 - frame));
	}
}

static size_t string_length(const char *text)
{
	size_t len = 0;

	while (text[len] && text[len] != '"')
		len += 1 + (text[len] == '\\' && text[len + 1]);
	return len;
}

static void put(struct symbolize *symbolize, const char *text, size_t len)
{
	if (len && gzwrite(symbolize->out, text, (unsigned int)len) <= 0)
		symbolize->why = "it can't be written";
}

/* One line of the file: an event, or a part of what lies around them. */
static void take_line(struct symbolize *symbolize)
{
	struct text_buffer *line = &symbolize->line;
	char *at = strstr(line->data, STACK_KEY);
	const char *frame;
	size_t left;

	if (!at) {
		put(symbolize, line->data, line->len);
		return;
	}
	frame = at + sizeof(STACK_KEY) - 1;
	left = string_length(frame);
	put(symbolize, line->data, (size_t)(frame - line->data));
	text_buffer_cut(&symbolize->made, 0);
	for (;;) {
		const char *end = memchr(frame, ';', left);
		const size_t len = end ? (size_t)(end - frame) : left;

		add_frame(symbolize, frame, len);
		frame += len;
		left -= len;
		if (!end)
			break;
		text_buffer_add(&symbolize->made, ";", 1);
		frame++;
		left--;
	}
	put(symbolize, symbolize->made.data, symbolize->made.len);
	put(symbolize, frame, line->len - (size_t)(frame - line->data));
}

static void take_piece(struct symbolize *symbolize, const char *text,
		       size_t len)
{
	while (len) {
		const char *end = memchr(text, '\n', len);
		const size_t part = end ? (size_t)(end - text) + 1 : len;

		text_buffer_add(&symbolize->line, text, part);
		if (end) {
			take_line(symbolize);
			text_buffer_cut(&symbolize->line, 0);
		}
		text += part;
		len -= part;
	}
}

static void copy(struct symbolize *symbolize, const char *path)
{
	struct trace_input *input;
	char *piece = malloc(PIECE_BYTES);
	long got = 0;

	if (!piece || trace_input_open(path, &input)) {
		symbolize->why = "it can't be read";
		free(piece);
		return;
	}
	while (!symbolize->why &&
	       (got = trace_input_read(input, piece, PIECE_BYTES)) > 0)
		take_piece(symbolize, piece, (size_t)got);
	if (got < 0)
		symbolize->why = "it can't be read";
	if (symbolize->line.len)
		take_line(symbolize);
	trace_input_close(input);
	free(piece);
}

/* Beside the old file, then in its place. */
static void rewrite(struct symbolize *symbolize, const char *path,
		    const char *output, bool is_compressed)
{
	struct text_buffer name = {0};
	struct stat status;
	int fd;

	text_buffer_format(&name, "%s.XXXXXX", output);
	fd = mkstemp(name.data);
	symbolize->out =
		fd < 0 ? NULL : gzdopen(fd, is_compressed ? "wb6" : "wbT");
	if (!symbolize->out) {
		symbolize->why = strerror(errno);
		text_buffer_free(&name);
		return;
	}
	copy(symbolize, path);
	if (!stat(path, &status) && fchmod(fd, status.st_mode & 0777))
		symbolize->why = strerror(errno);
	if (gzclose(symbolize->out) != Z_OK && !symbolize->why)
		symbolize->why = "it can't be written";
	if (!symbolize->why && rename(name.data, output))
		symbolize->why = strerror(errno);
	if (symbolize->why)
		unlink(name.data);
	text_buffer_free(&name);
}

static int symbolize_file(const char *path,
			  const struct symbolize_arguments *arguments)
{
	struct symbolize symbolize = {0};
	const struct trace_sink sink = {on_event, on_entry, &symbolize};
	struct trace_facts facts;
	const char *missing = NULL;

	symbolize.finder = source_finder_new(arguments->debug_dir);
	if (trace_read(path, &sink, &facts))
		symbolize.why = facts.error;
	else
		rewrite(&symbolize, path,
			arguments->output ? arguments->output : path,
			facts.input.compressed);
	if (symbolize.why)
		fprintf(stderr, "traceprof symbolize: %s: %s\n", path,
			symbolize.why);
	else
		printf("%s: %llu frames, %llu with file and line\n", path,
		       (unsigned long long)symbolize.frames,
		       (unsigned long long)symbolize.named);
	if (source_finder_missing(symbolize.finder, &missing))
		printf("not here as it was recorded: %s\n", missing);
	source_finder_free(symbolize.finder);
	text_buffer_free(&symbolize.module_path);
	text_buffer_free(&symbolize.line);
	text_buffer_free(&symbolize.made);
	return symbolize.why ? EXIT_UNREADABLE : EXIT_GOOD;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static int symbolize_one(void *arg, const char *path)
{
	struct symbolize_arguments *arguments = arg;

	if (symbolize_file(path, arguments))
		arguments->has_failed = true;
	return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct symbolize_arguments *arguments = state->input;

	switch (key) {
	case 'o': arguments->output = text; return 0;
	case 'd': arguments->debug_dir = text; return 0;
	default: return command_parse_files(key, text, state);
	}
}

int symbolize_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"output", 'o', "FILE", 0, "write here; without it, in place",
		 0},
		{"debug-dir", 'd', "FOLDER", 0,
		 "where debug files lie, by build-id or name", 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE|FOLDER...",
		.doc = "Writes functions, files and lines into the call stacks "
		       "of traces.\vEnds with 3 when a file cannot be read or "
		       "written.",
	};
	struct symbolize_arguments arguments = {0};
	int code = EXIT_GOOD;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("symbolize");
	if (!source_finder_available()) {
		fputs("traceprof symbolize: needs libdw: install libdw-dev and "
		      "make again\n",
		      stderr);
		return EXIT_UNREADABLE;
	}
	if (arguments.output &&
	    (argc - arguments.first != 1 || is_folder(argv[arguments.first]))) {
		fputs("traceprof symbolize: --output takes one file\n", stderr);
		return EXIT_USAGE;
	}
	setlocale(LC_CTYPE, "");
	for (int at = arguments.first; at < argc; at++) {
		const int error =
			trace_folder_each(argv[at], symbolize_one, &arguments);

		if (error)
			fprintf(stderr, "traceprof symbolize: %s: %s\n",
				argv[at],
				error == -ENOENT ? "no trace in it"
						 : strerror(-error));
		if (error || arguments.has_failed)
			code = EXIT_UNREADABLE;
	}
	return code;
}
