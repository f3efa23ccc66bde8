/* SPDX-License-Identifier: MIT */
/*
 * memory_command.c - `traceprof memory FILE...`: who holds the memory, what
 * grows, and who allocates so often.
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory/heap_view.h"
#include "tools/trace/trace_folder.h"
#include "tools/util/command.h"
#include "tools/util/numbers.h"

enum memory_form {
	FORM_TEXT,
	FORM_JSON,
	FORM_FOLDED,
	FORM_SPEEDSCOPE,
	FORM_PPROF
};

enum {
	KEY_FLAME = 256,
	KEY_INVERTED,
	KEY_SPEEDSCOPE,
	KEY_PPROF,
	KEY_MODULE,
	KEY_COST,
	KEY_SUPPRESSIONS,
	KEY_DEBUG_DIR,
	KEY_DIFF,
	KEY_STEPS,
	KEY_TIME,
	KEY_FRAMES,
	KEY_ASKED,
};

struct memory_arguments {
	int first; /* of the files in argv */
	enum memory_form form;
	enum heap_cost cost;
	bool is_inverted, is_diff, is_long, is_asked;
	size_t top, frames;
	int64_t first_step, last_step; /* -1 all */
	double from_s, to_s;	       /* negative: all */
	const char *debug_dir;
	const char *module; /* NULL all */
	struct leak_list suppressed;
};

static size_t parse_count(struct argp_state *state, const char *name,
			  const char *text)
{
	int64_t number = 0;

	if (decimal_to_integer(text, strlen(text), &number) || number < 0)
		argp_error(state, "%s %s: not a number", name, text);
	return (size_t)number;
}

static void parse_cost(struct memory_arguments *arguments,
		       struct argp_state *state, const char *text)
{
	for (int i = 0; i < HEAP_COST_GROWTH; i++)
		if (!strcmp(text, heap_cost_word((enum heap_cost)i))) {
			arguments->cost = (enum heap_cost)i;
			return;
		}
	argp_error(state,
		   "--cost %s: one of peak, live, bytes, calls, temporary, "
		   "foreign",
		   text);
}

static void parse_suppressions(struct memory_arguments *arguments,
			       struct argp_state *state, const char *path)
{
	size_t line = 0;
	const int rc = leak_list_read(&arguments->suppressed, path, &line);

	if (rc == -EINVAL)
		argp_error(state, "%s: line %zu is not leak:PATTERN", path,
			   line);
	else if (rc)
		argp_error(state, "%s: %s", path, strerror(-rc));
}

static void parse_range(struct memory_arguments *arguments,
			struct argp_state *state, int key, const char *text)
{
	char end = 0;

	if (key == KEY_STEPS &&
	    (sscanf(text, "%" SCNd64 ":%" SCNd64 "%c", &arguments->first_step,
		    &arguments->last_step, &end) != 2 ||
	     arguments->first_step < 0))
		argp_error(state, "--steps %s: FIRST:LAST", text);
	if (key == KEY_TIME && (sscanf(text, "%lf:%lf%c", &arguments->from_s,
				       &arguments->to_s, &end) != 2 ||
				arguments->from_s < 0))
		argp_error(state, "--time %s: seconds FROM:TO", text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct memory_arguments *arguments = state->input;

	switch (key) {
	case 'n': arguments->top = parse_count(state, "--top", text); return 0;
	case KEY_FRAMES:
		arguments->frames = parse_count(state, "--frames", text);
		if (!arguments->frames)
			arguments->frames = SIZE_MAX;
		return 0;
	case 'l': arguments->is_long = true; return 0;
	case 'j': arguments->form = FORM_JSON; return 0;
	case KEY_FLAME: arguments->form = FORM_FOLDED; return 0;
	case KEY_INVERTED: arguments->is_inverted = true; return 0;
	case KEY_SPEEDSCOPE: arguments->form = FORM_SPEEDSCOPE; return 0;
	case KEY_PPROF: arguments->form = FORM_PPROF; return 0;
	case KEY_MODULE: arguments->module = text; return 0;
	case KEY_ASKED: arguments->is_asked = true; return 0;
	case KEY_DIFF: arguments->is_diff = true; return 0;
	case KEY_COST: parse_cost(arguments, state, text); return 0;
	case KEY_DEBUG_DIR: arguments->debug_dir = text; return 0;
	case KEY_SUPPRESSIONS:
		parse_suppressions(arguments, state, text);
		return 0;
	case KEY_STEPS:
	case KEY_TIME: parse_range(arguments, state, key, text); return 0;
	default: return command_parse_files(key, text, state);
	}
}

/* One file, read and added up. */
struct memory_file {
	struct heap_log log;
	struct heap_account account;
	struct heap_rows rows;
	struct heap_view view;
};

/* False: there are no such steps. */
static bool find_span(const struct memory_arguments *arguments,
		      const struct heap_log *log, int64_t *from_ns,
		      int64_t *to_ns)
{
	bool is_found = false;

	*from_ns = INT64_MIN;
	*to_ns = INT64_MAX;
	if (arguments->from_s >= 0) {
		*from_ns = log->start_ns + (int64_t)(arguments->from_s * 1e9);
		*to_ns = log->start_ns + (int64_t)(arguments->to_s * 1e9);
	}
	if (arguments->first_step < 0)
		return true;
	for (size_t i = 0; i < log->step_count; i++) {
		const struct heap_step *step = &log->steps[i];

		if (step->number < arguments->first_step ||
		    step->number > arguments->last_step)
			continue;
		if (!is_found)
			*from_ns = step->start_ns;
		*to_ns = step->end_ns;
		is_found = true;
	}
	return is_found;
}

static int64_t clamp(int64_t ns, const struct heap_log *log)
{
	return ns < log->start_ns ? log->start_ns
	       : ns > log->end_ns ? log->end_ns
				  : ns;
}

static int open_file(struct memory_file *file, const char *path,
		     const struct memory_arguments *arguments)
{
	int64_t from_ns, to_ns;

	if (heap_log_read(&file->log, path, arguments->debug_dir) < 0) {
		fprintf(stderr, "traceprof memory: %s: %s\n", path,
			file->log.facts.error);
		heap_log_free(&file->log);
		return EXIT_UNREADABLE;
	}
	if (file->log.row_count &&
	    (arguments->from_s >= 0 || arguments->first_step >= 0)) {
		fprintf(stderr,
			"traceprof memory: %s: its heap is sums alone "
			"(TRACEPROF_MALLOC=sites): --steps and --time need "
			"TRACEPROF_MALLOC=all\n",
			path);
		heap_log_free(&file->log);
		return EXIT_UNREADABLE;
	}
	if (arguments->is_asked && !heap_log_count_asked(&file->log)) {
		fprintf(stderr,
			"traceprof memory: %s: says what blocks hold, not "
			"what was asked for: it is older than --asked\n",
			path);
		heap_log_free(&file->log);
		return EXIT_UNREADABLE;
	}
	if (arguments->module)
		heap_log_only(&file->log, arguments->module);
	if (!find_span(arguments, &file->log, &from_ns, &to_ns)) {
		fprintf(stderr,
			"traceprof memory: %s: none of its %zu steps is asked "
			"for by --steps\n",
			path, file->log.step_count);
		heap_log_free(&file->log);
		return EXIT_UNREADABLE;
	}
	heap_account_make(&file->account, &file->log, from_ns, to_ns);
	heap_rows_make(&file->rows, &file->log, &file->account,
		       &arguments->suppressed);
	file->view = (struct heap_view){
		.file = path,
		.log = &file->log,
		.account = &file->account,
		.rows = &file->rows,
		.top = arguments->top,
		.frames = arguments->frames,
		.is_long = arguments->is_long,
		.from_ns = clamp(from_ns, &file->log),
		.to_ns = clamp(to_ns, &file->log),
	};
	return EXIT_GOOD;
}

static void close_file(struct memory_file *file)
{
	heap_rows_free(&file->rows);
	heap_account_free(&file->account);
	heap_log_free(&file->log);
}

static int print_file(const char *path,
		      const struct memory_arguments *arguments, bool is_first)
{
	struct memory_file file;
	int code = open_file(&file, path, arguments);

	if (code)
		return code;
	switch (arguments->form) {
	case FORM_TEXT:
		if (!is_first)
			fputc('\n', stdout);
		heap_print_text(&file.view, stdout);
		break;
	case FORM_JSON:
		if (!is_first)
			fputs(",\n", stdout);
		heap_print_json(&file.view, stdout);
		break;
	case FORM_FOLDED:
		heap_print_folded(&file.view, arguments->cost,
				  arguments->is_inverted, stdout);
		break;
	case FORM_SPEEDSCOPE:
		heap_print_speedscope(&file.view, arguments->cost, stdout);
		break;
	case FORM_PPROF:
		if (heap_print_pprof(&file.view, stdout)) {
			fputs("traceprof memory: can't write the profile\n",
			      stderr);
			code = EXIT_UNREADABLE;
		}
		break;
	}
	close_file(&file);
	return code;
}

/* Of one command. */
struct memory_files {
	const struct memory_arguments *arguments;
	int printed, code;
};

static int print_one(void *arg, const char *path)
{
	struct memory_files *files = arg;

	if (print_file(path, files->arguments, !files->printed))
		files->code = EXIT_UNREADABLE;
	else
		files->printed++;
	return 0;
}

static void print_path(struct memory_files *files, const char *path)
{
	const int error = trace_folder_each(path, print_one, files);

	if (!error)
		return;
	fprintf(stderr, "traceprof memory: %s: %s\n", path,
		error == -ENOENT ? "no trace in it" : strerror(-error));
	files->code = EXIT_UNREADABLE;
}

static int print_diff(char *const paths[2],
		      const struct memory_arguments *arguments)
{
	struct memory_file before, after;
	int code = open_file(&before, paths[0], arguments);

	if (code)
		return code;
	code = open_file(&after, paths[1], arguments);
	if (!code) {
		heap_print_diff(&before.view, &after.view, stdout);
		close_file(&after);
	}
	close_file(&before);
	return code;
}

static const struct argp_option choices[] = {
	{"top", 'n', "N", 0, "the first N rows of each table; 0: all (10)", 0},
	{"frames", KEY_FRAMES, "N", 0, "frames of each stack; 0: all (4)", 0},
	{"long", 'l', NULL, 0,
	 "stacks as they are, however narrow the terminal", 0},
	{"json", 'j', NULL, 0, "print JSON, in bytes and nanoseconds", 0},
	{"flame", KEY_FLAME, NULL, 0, "print folded stacks for flame graphs",
	 0},
	{"inverted", KEY_INVERTED, NULL, 0,
	 "with --flame, the innermost frame first", 0},
	{"speedscope", KEY_SPEEDSCOPE, NULL, 0,
	 "print a file for speedscope.app", 0},
	{"pprof", KEY_PPROF, NULL, 0,
	 "print a profile for pprof, of one file, with all costs", 0},
	{"asked", KEY_ASKED, NULL, 0,
	 "count the bytes that were asked for, as other profilers do, not "
	 "those that blocks hold",
	 0},
	{"cost", KEY_COST, "WHAT", 0,
	 "of --flame and --speedscope: peak (default), live, bytes, calls, "
	 "temporary or foreign",
	 0},
	{"suppressions", KEY_SUPPRESSIONS, "FILE", 0,
	 "leaks to leave out, lines leak:PATTERN as LeakSanitizer has them", 0},
	{"debug-dir", KEY_DEBUG_DIR, "FOLDER", 0,
	 "where debug files lie, by build-id or name", 0},
	{"steps", KEY_STEPS, "FIRST:LAST", 0, "these steps alone", 0},
	{"time", KEY_TIME, "FROM:TO", 0,
	 "these seconds alone, counted from the trace's start", 0},
	{"module", KEY_MODULE, "NAME", 0,
	 "blocks alone that were allocated by a module with that in its "
	 "name",
	 0},
	{"diff", KEY_DIFF, NULL, 0,
	 "what the second of two files has more of than the first", 0},
	{0},
};

int memory_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE|FOLDER...",
		.doc = "Who held the memory at its peak and holds it at the "
		       "end, what grows from step to step, and who allocates "
		       "most, by call stack: record with TRACEPROF_STACK=heap "
		       "and TRACEPROF_MALLOC=all, sites or sampled.\vEnds with "
		       "3 when a file cannot be read.",
	};
	struct memory_arguments arguments = {
		.top = 10, .frames = 4, .first_step = -1, .from_s = -1};
	struct memory_files files = {.arguments = &arguments};
	int code = EXIT_GOOD;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("memory");
	setlocale(LC_CTYPE, "");
	if (arguments.form == FORM_PPROF && argc - arguments.first != 1) {
		fputs("traceprof memory: --pprof takes one file\n", stderr);
		code = EXIT_USAGE;
	} else if (arguments.is_diff && argc - arguments.first != 2) {
		fputs("traceprof memory: --diff takes two files\n", stderr);
		code = EXIT_USAGE;
	} else if (arguments.is_diff) {
		code = print_diff(&argv[arguments.first], &arguments);
	} else {
		if (arguments.form == FORM_JSON)
			fputs("[\n", stdout);
		for (int at = arguments.first; at < argc; at++)
			print_path(&files, argv[at]);
		code = files.code;
		if (arguments.form == FORM_JSON)
			fputs("]\n", stdout);
	}
	leak_list_free(&arguments.suppressed);
	return code;
}
