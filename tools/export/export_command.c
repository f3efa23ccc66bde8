/* SPDX-License-Identifier: MIT */
/*
 * export_command.c - `traceprof export --FORMAT FILE`: a trace for another
 * program.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/export/export.h"
#include "tools/util/command.h"

static const struct {
	const char *ending; /* takes the place of .pt.trace.json.gz */
	int (*write)(const char *file, const char *output, char *why);
} formats[] = {
	{".perfetto-trace", export_perfetto},
	{".folded", export_folded},
	{".csv", export_csv},
	{".sqlite", export_sqlite},
};

#define FORMATS (int)(sizeof(formats) / sizeof(formats[0]))

struct export_arguments {
	int first; /* of the files in argv */
	int format;
	const char *output;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct export_arguments *arguments = state->input;

	if (key > 0 && key <= FORMATS) {
		if (arguments->format)
			argp_error(state, "one format at a time");
		arguments->format = key;
		return 0;
	}
	switch (key) {
	case 'o': arguments->output = text; return 0;
	case ARGP_KEY_END:
		if (!arguments->format)
			argp_error(state, "which format? --perfetto, --folded, "
					  "--csv or --sqlite");
		return 0;
	default: return command_parse_files(key, text, state);
	}
}

/* The file's name with another ending; free() it. */
static char *output_of(const char *file, const char *ending)
{
	static const char *const endings[] = {".pt.trace.json.gz",
					      ".pt.trace.json", ".json.gz",
					      ".json", ".gz"};
	size_t len = strlen(file);
	char *name = NULL;

	for (size_t at = 0; at < sizeof(endings) / sizeof(endings[0]); at++) {
		const size_t tail = strlen(endings[at]);

		if (len > tail && !strcmp(file + len - tail, endings[at])) {
			len -= tail;
			break;
		}
	}
	if (asprintf(&name, "%.*s%s", (int)len, file, ending) < 0)
		return NULL;
	return name;
}

static int export_file(const struct export_arguments *arguments,
		       const char *file)
{
	char *made = NULL, why[EXPORT_WHY] = "no memory";
	const char *output = arguments->output;
	int error = -1;

	if (!output)
		output = made =
			output_of(file, formats[arguments->format - 1].ending);
	if (output)
		error = formats[arguments->format - 1].write(file, output, why);
	if (error)
		fprintf(stderr, "traceprof export: %s\n", why);
	else if (strcmp(output, "-") != 0)
		puts(output);
	free(made);
	return error;
}

int export_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"perfetto", 1, NULL, 0,
		 "Perfetto's own format, less than half as large", 0},
		{"folded", 2, NULL, 0,
		 "stacks with their own nanoseconds, for flame graphs", 0},
		{"csv", 3, NULL, 0, "one row an event", 0},
		{"sqlite", 4, NULL, 0,
		 "a database with the views of Nsight's export", 0},
		{"output", 'o', "FILE", 0,
		 "where to write it (beside the trace); - is standard output",
		 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE...",
		.doc = "Writes traces, ours or torch.profiler's, in another "
		       "format, and prints the names of the new files.\v"
		       ""
		       "Ends with 3 when a file cannot be read or written.",
	};
	struct export_arguments arguments = {0};
	int code = EXIT_GOOD;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("export");
	if (arguments.output && argc - arguments.first > 1) {
		fputs("traceprof export: --output is for one FILE\n", stderr);
		return EXIT_USAGE;
	}
	for (int at = arguments.first; at < argc; at++)
		if (export_file(&arguments, argv[at]))
			code = EXIT_UNREADABLE;
	return code;
}
