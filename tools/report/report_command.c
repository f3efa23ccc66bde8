/* SPDX-License-Identifier: MIT */
/*
 * report_command.c - `traceprof report FILE...`: what the time went into.
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/host/hot_report.h"
#include "tools/trace/trace_folder.h"
#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "tools/util/table.h"
#include "tools/report/report.h"
#include "tools/verdict/verdict.h"

/* argp's keys of options without a letter. */
enum { FILTER = 0x800, CATEGORY, STEP, FROM, TO, BY, CSV, VERDICT, LAST };

struct report_arguments {
	int first; /* of the files in argv */
	struct report_choice choice;
	struct report_ranks *ranks;
	int printed, code;
	bool judges;	     /* and no more */
	double last_percent; /* of the file; 0 all */
	struct hot_choice hot;
};

static const char *const order_words[] = {
	[ORDER_TOTAL] = "total",   [ORDER_SELF] = "self",
	[ORDER_CALLS] = "calls",   [ORDER_AVERAGE] = "avg",
	[ORDER_MEDIAN] = "median", [ORDER_P95] = "p95",
	[ORDER_P99] = "p99",	   [ORDER_MIN] = "min",
	[ORDER_MAX] = "max",	   [ORDER_DEVIATION] = "stddev",
	[ORDER_GPU] = "gpu",	   [ORDER_GPU_SELF] = "gpu-self",
	[ORDER_NAME] = "name",
};

static void parse_order(struct argp_state *state, const char *text,
			struct report_choice *choice)
{
	for (unsigned int at = 0; at <= ORDER_NAME; at++)
		if (!strcmp(text, order_words[at])) {
			choice->order = (enum tally_order)at;
			return;
		}
	argp_error(state,
		   "--sort %s: one of total, self, calls, avg, median, p95, "
		   "p99, min, max, stddev, gpu, gpu-self, name",
		   text);
}

static void parse_by(struct argp_state *state, const char *text,
		     struct report_choice *choice)
{
	for (unsigned int at = 0; at < BY_COUNT; at++)
		if (!strcmp(text, report_by_word((enum report_by)at))) {
			choice->by = (enum report_by)at;
			return;
		}
	argp_error(state,
		   "--by %s: one of name, category, step, thread, stream, "
		   "device, shape, site",
		   text);
}

/* A:B, A:, :B or one number. */
static void parse_steps(struct argp_state *state, const char *text,
			struct report_choice *choice)
{
	const char *colon = strchr(text, ':');
	const size_t len = colon ? (size_t)(colon - text) : strlen(text);

	choice->has_steps = true;
	choice->first_step = INT64_MIN;
	choice->last_step = INT64_MAX;
	if ((!len && !colon) ||
	    (len && decimal_to_integer(text, len, &choice->first_step)) ||
	    (colon && colon[1] &&
	     decimal_to_integer(colon + 1, strlen(colon + 1),
				&choice->last_step)))
		argp_error(state, "--step %s: A:B, A:, :B or one number", text);
	if (!colon)
		choice->last_step = choice->first_step;
}

/* Seconds, or with a unit: 1.5s, 20ms. */
static void parse_time(struct argp_state *state, const char *text,
		       struct report_choice *choice, int64_t *ns)
{
	char *end;
	double value = strtod(text, &end);

	if (!strcmp(end, "ms"))
		value /= 1e3;
	else if (!strcmp(end, "us"))
		value /= 1e6;
	else if (*end && strcmp(end, "s") != 0)
		end = (char *)text;
	if (end == text || !isfinite(value) || value < 0 || value > 1e9)
		argp_error(state, "%s: no time after the start, as 1.5s", text);
	choice->has_times = true;
	*ns = (int64_t)(value * 1e9);
}

static void parse_last(struct argp_state *state, const char *text,
		       struct report_arguments *arguments)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !isfinite(value) ||
	    value <= 0 || value > 100)
		argp_error(state, "--last %s: no percentage, as 10", text);
	arguments->last_percent = value;
	arguments->judges = true;
}

static void parse_top(struct argp_state *state, const char *text,
		      struct report_choice *choice)
{
	int64_t number = 0;

	if (decimal_to_integer(text, strlen(text), &number) || number < 0)
		argp_error(state, "--top %s: not a number", text);
	choice->top = (size_t)number;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct report_arguments *arguments = state->input;
	struct report_choice *choice = &arguments->choice;

	switch (key) {
	case 's': parse_order(state, text, choice); return 0;
	case 'n': parse_top(state, text, choice); return 0;
	case 't': choice->tree = true; return 0;
	case 'j': choice->json = true; return 0;
	case 'l': choice->whole = true; return 0;
	case 'w': choice->wide = true; return 0;
	case CSV: choice->csv = true; return 0;
	case VERDICT: arguments->judges = true; return 0;
	case LAST: parse_last(state, text, arguments); return 0;
	case FILTER: choice->filter = text; return 0;
	case CATEGORY: choice->category = text; return 0;
	case STEP: parse_steps(state, text, choice); return 0;
	case FROM: parse_time(state, text, choice, &choice->from_ns); return 0;
	case TO: parse_time(state, text, choice, &choice->to_ns); return 0;
	case BY: parse_by(state, text, choice); return 0;
	default:
		if (hot_take(&arguments->hot, key, text))
			return 0;
		return command_parse_files(key, text, state);
	}
}

static void print(struct report_arguments *arguments,
		  const struct report *report)
{
	const bool is_first = !arguments->printed++;

	report_ranks_add(arguments->ranks, report);
	if (arguments->choice.csv) {
		report_print_csv(report, is_first, stdout);
	} else if (arguments->choice.json) {
		if (!is_first)
			fputs(",\n", stdout);
		report_print_json(report, stdout);
	} else {
		if (!is_first)
			fputc('\n', stdout);
		report_print_text(report, stdout);
	}
}

/* 0: all of it. */
static uint64_t last_bytes(const struct report_arguments *arguments,
			   const char *file)
{
	struct stat status;

	if (arguments->last_percent <= 0 || stat(file, &status))
		return 0;
	return (uint64_t)((double)status.st_size * arguments->last_percent /
			  100) +
	       1;
}

static void judge(struct report_arguments *arguments, const char *file)
{
	const unsigned int columns = arguments->choice.columns;
	const int error =
		verdict_file(file, last_bytes(arguments, file),
			     columns && columns < 80 ? columns : 80, stdout);

	if (!error)
		return;
	fprintf(stderr, "traceprof report: %s: %s\n", file,
		error == -ENODATA ? "too few whole steps in that part of it"
				  : strerror(-error));
	arguments->code = EXIT_UNREADABLE;
}

static int report_file(void *arg, const char *file)
{
	struct report_arguments *arguments = arg;
	struct report report;

	if (arguments->judges) {
		judge(arguments, file);
		return 0;
	}
	if (report_read(&report, file, &arguments->choice) < 0) {
		fprintf(stderr, "traceprof report: %s: %s\n", file,
			report.facts.error);
		arguments->code = EXIT_UNREADABLE;
	} else {
		print(arguments, &report);
	}
	report_free(&report);
	return 0;
}

static void report_path(struct report_arguments *arguments, const char *path)
{
	const int error = trace_folder_each(path, report_file, arguments);

	if (!error)
		return;
	fprintf(stderr, "traceprof report: %s: %s\n", path,
		error == -ENOENT ? "no trace in it" : strerror(-error));
	arguments->code = EXIT_UNREADABLE;
}

static int count_file(void *arg, const char *file)
{
	int *count = arg;

	(void)file;
	return ++*count > 1;
}

static bool are_many(char *const *paths, int count)
{
	int files = 0;

	for (int at = 0; at < count && files < 2; at++)
		if (trace_folder_each(paths[at], count_file, &files) < 0)
			files++;
	return files > 1;
}

/* Forms that what is asked for hasn't got; NULL: there are none. */
static const char *unknown_form(const struct report_arguments *arguments)
{
	const struct report_choice *choice = &arguments->choice;

	if (arguments->judges && (choice->json || choice->csv))
		return "--verdict and --last are text; --json alone has the "
		       "step's parts and the findings";
	if (arguments->hot.is_wanted && choice->csv)
		return "samples have no --csv; --hot --json has functions";
	if (arguments->hot.io && choice->json)
		return "--io has no --json";
	return NULL;
}

/* clang-format off */
static const struct argp_option choices[] = {
	{"sort", 's', "KEY", 0, "total (default), self, calls, avg, median, "
	 "p95, p99, min, max, stddev, gpu, gpu-self or name", 0},
	{"top", 'n', "N", 0, "the first N names of each table; 0: all (20)", 0},
	{"by", BY, "WHAT", 0, "a row for each name (default), category, step, "
	 "thread, stream, device, shape or site", 0},
	{"filter", FILTER, "GLOB", 0, "names that match alone", 0},
	{"cat", CATEGORY, "GLOB", 0, "categories that match alone", 0},
	{"step", STEP, "A:B", 0, "steps A to B alone", 0},
	{"from", FROM, "TIME", 0, "what begins so long after the start, as "
	 "1.5s or 20ms", 0},
	{"to", TO, "TIME", 0, "and before that", 0},
	{"long", 'l', NULL, 0, "names as they are, with template arguments; "
	 "of kernels of torch.compile's also their operators", 0},
	{"wide", 'w', NULL, 0, "median, p99, min and stddev, too", 0},
	{"tree", 't', NULL, 0, "nested scopes of each thread instead of "
	 "tables", 0},
	{"json", 'j', NULL, 0, "print JSON, times in nanoseconds", 0},
	{"verdict", VERDICT, NULL, 0, "the verdict alone, in 15 lines at most",
	 0},
	{"last", LAST, "PERCENT", 0, "the same by so much of the file alone, "
	 "from its end: of a large one that is quick", 0},
	{"csv", CSV, NULL, 0, "print one table, times in nanoseconds", 0},
	HOT_OPTIONS,
	{0},
};
/* clang-format on */

int report_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE|FOLDER...",
		.doc = "Why the steps take so long, and totals by name, OpenMP "
		       "balance, GPU use and heap of traces, ours or "
		       "torch.profiler's.\vExample: traceprof report --cat "
		       "cpu_op --sort self traceprof/\n\nEnds with 3 when a "
		       "file cannot be read.",
	};
	struct report_arguments arguments = {
		.choice = {.top = 20, .to_ns = INT64_MAX}};

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("report");
	if (unknown_form(&arguments)) {
		fprintf(stderr, "traceprof report: %s\n",
			unknown_form(&arguments));
		return EXIT_USAGE;
	}
	setlocale(LC_CTYPE, "");
	if (arguments.hot.is_wanted) {
		arguments.hot.top = arguments.choice.top;
		arguments.hot.json = arguments.choice.json;
		return hot_report(&arguments.hot, &argv[arguments.first],
				  argc - arguments.first);
	}
	arguments.choice.columns = table_columns(stdout);
	arguments.choice.is_one_of_many =
		are_many(&argv[arguments.first], argc - arguments.first);
	arguments.ranks = report_ranks_new();
	if (arguments.choice.json)
		fputs("[\n", stdout);
	for (int at = arguments.first; at < argc; at++)
		report_path(&arguments, argv[at]);
	if (arguments.choice.json)
		fputs("]\n", stdout);
	else if (!arguments.choice.csv && arguments.printed > 1)
		report_ranks_print(arguments.ranks, &arguments.choice, stdout);
	report_ranks_free(arguments.ranks);
	return arguments.code;
}
