/* SPDX-License-Identifier: MIT */
/*
 * check_command.c - `traceprof check FILE...`: is it a trace that every viewer
 * opens?
 */
#include <stdio.h>

#include "tools/util/command.h"
#include "tools/check/check.h"

static const struct argp_option choices[] = {
	{"rules", 'r', NULL, 0, "list the rules and end", 0},
	{0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	int *first = state->input;

	(void)text;
	switch (key) {
	case 'r':
		fault_list_rules(stdout);
		*first = -1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_ARGS: *first = state->next; return 0;
	case ARGP_KEY_NO_ARGS:
		if (*first != -1)
			argp_error(state, "no FILE given");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int check_command(int argc, char **argv)
{
	static const struct argp argp = {
		choices,
		parse,
		"FILE...",
		"Check traces, gzipped or plain, against the rules of the "
		"format.\vOne line for each fault, with its place: event N is "
		"element N of traceEvents, counted from 0.  Ends with 0 when "
		"all is good, 1 when a fault was found, 3 when a file cannot "
		"be read.",
		NULL,
		NULL,
		NULL,
	};
	int first = 0, code = EXIT_GOOD;

	if (command_parse(&argp, argc, argv, 0, &first))
		return EXIT_USAGE;
	if (first < 0)
		return EXIT_GOOD;
	if (!trace_reader_available()) {
		fputs("traceprof check: needs yajl: install libyajl-dev and "
		      "make again\n",
		      stderr);
		return EXIT_UNREADABLE;
	}
	for (int at = first; at < argc; at++) {
		struct check_result result;

		if (check_trace(argv[at], stdout, &result) < 0)
			code = EXIT_UNREADABLE;
		else if (result.faults && code == EXIT_GOOD)
			code = EXIT_FOUND;
	}
	return code;
}
