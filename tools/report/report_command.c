/* SPDX-License-Identifier: MIT */
/*
 * report_command.c - `traceprof report FILE...`: what the time went into.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "tools/report/report.h"

struct report_arguments {
	int first; /* of the files in argv */
	struct report_choice choice;
};

static int parse_order(const char *text, enum tally_order *order)
{
	static const char *const words[] = {
		[ORDER_TOTAL] = "total", [ORDER_CALLS] = "calls",
		[ORDER_AVERAGE] = "avg", [ORDER_MIN] = "min",
		[ORDER_MAX] = "max",	 [ORDER_NAME] = "name",
	};

	for (unsigned int at = 0; at <= ORDER_NAME; at++)
		if (!strcmp(text, words[at])) {
			*order = (enum tally_order)at;
			return 0;
		}
	return -1;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct report_arguments *arguments = state->input;
	int64_t number = 0;

	switch (key) {
	case 's':
		if (parse_order(text, &arguments->choice.order))
			argp_error(state,
				   "--sort %s: one of total, calls, avg, min, "
				   "max, name",
				   text);
		return 0;
	case 'n':
		if (decimal_to_integer(text, strlen(text), &number) ||
		    number < 0)
			argp_error(state, "--top %s: not a number", text);
		arguments->choice.top = (size_t)number;
		return 0;
	case 't': arguments->choice.tree = true; return 0;
	case 'l': arguments->choice.whole = true; return 0;
	case 'j': arguments->choice.json = true; return 0;
	default: return command_parse_files(key, text, state);
	}
}

static int report_file(const char *file, const struct report_choice *choice,
		       bool is_first)
{
	struct report report;
	int code = EXIT_GOOD;

	if (report_read(&report, file, choice) < 0) {
		fprintf(stderr, "traceprof report: %s: %s\n", file,
			report.facts.error);
		code = EXIT_UNREADABLE;
	} else if (choice->json) {
		if (!is_first)
			fputs(",\n", stdout);
		report_print_json(&report, stdout);
	} else {
		if (!is_first)
			fputc('\n', stdout);
		report_print_text(&report, stdout);
	}
	report_free(&report);
	return code;
}

int report_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"sort", 's', "KEY", 0,
		 "total (default), calls, avg, min, max or name", 0},
		{"top", 'n', "N", 0,
		 "the first N names of each table; 0: all (20)", 0},
		{"tree", 't', NULL, 0,
		 "nested scopes of each thread instead of tables", 0},
		{"long", 'l', NULL, 0,
		 "names as they are, with template arguments", 0},
		{"json", 'j', NULL, 0, "print JSON, times in nanoseconds", 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE...",
		.doc = "Totals by name, steps, OpenMP balance, GPU use and "
		       "heap of traces, ours or torch.profiler's.\vEnds with "
		       "3 when a file cannot be read.",
	};
	struct report_arguments arguments = {.choice = {.top = 20}};
	int code = EXIT_GOOD, printed = 0;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("report");
	setlocale(LC_CTYPE, "");
	if (arguments.choice.json)
		fputs("[\n", stdout);
	for (int at = arguments.first; at < argc; at++) {
		if (report_file(argv[at], &arguments.choice, !printed))
			code = EXIT_UNREADABLE;
		else
			printed++;
	}
	if (arguments.choice.json)
		fputs("]\n", stdout);
	return code;
}
