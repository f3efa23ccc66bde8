/* SPDX-License-Identifier: MIT */
/*
 * diff_command.c - `traceprof diff A B`: what changed between two runs, and
 * whether a build is to fail by it.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff.h"
#include "tools/util/command.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

struct diff_arguments {
	const char *paths[2];
	int path_count;
	struct diff_rule *rules;
	size_t rule_count, rule_capacity;
	size_t top;
	bool json;
};

static void take_rule(struct diff_arguments *arguments, const char *text,
		      struct argp_state *state)
{
	struct diff_rule rule;
	char why[256];

	if (diff_rule_parse(&rule, text, why, sizeof(why)))
		argp_error(state, "--fail-if %s", why);
	arguments->rules = memory_grow(arguments->rules, arguments->rule_count,
				       &arguments->rule_capacity, sizeof(rule));
	arguments->rules[arguments->rule_count++] = rule;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct diff_arguments *arguments = state->input;
	int64_t number;

	switch (key) {
	case 'f': take_rule(arguments, text, state); return 0;
	case 'j': arguments->json = true; return 0;
	case 'n':
		if (decimal_to_integer(text, strlen(text), &number) ||
		    number < 0)
			argp_error(state, "--top %s: not a number", text);
		arguments->top = (size_t)number;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->path_count == 2)
			argp_error(state, "two runs, A and B, not more");
		arguments->paths[arguments->path_count++] = text;
		return 0;
	case ARGP_KEY_END:
		if (arguments->path_count < 2)
			argp_error(state, "two runs are needed, A and B");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int judge(const struct diff_arguments *arguments,
		 const struct diff *diff)
{
	FILE *out = arguments->json ? stderr : stdout;
	int code = EXIT_GOOD;

	for (size_t at = 0; at < arguments->rule_count; at++) {
		switch (diff_rule_judge(&arguments->rules[at], diff, out)) {
		case DIFF_HELD: break;
		case DIFF_BROKEN: code = EXIT_FOUND; break;
		case DIFF_UNKNOWN:
			if (code == EXIT_GOOD)
				code = EXIT_UNREADABLE;
			break;
		}
	}
	return code;
}

static int run(const struct diff_arguments *arguments)
{
	struct diff diff;
	int code = EXIT_UNREADABLE;

	if (diff_read(&diff, arguments->paths[0], arguments->paths[1])) {
		fprintf(stderr, "traceprof diff: %s%s\n", diff.run[0].error,
			diff.run[1].error);
	} else {
		if (arguments->json)
			diff_print_json(&diff, arguments->paths, stdout);
		else
			diff_print_text(&diff, arguments->paths, arguments->top,
					stdout);
		code = judge(arguments, &diff);
	}
	diff_free(&diff);
	return code;
}

int diff_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"fail-if", 'f', "RULE", 0,
		 "end with 1 if B breaks it: step>3%, name:gemm*>5%, "
		 "peak>10MB, growth>0; may be given several times",
		 0},
		{"top", 'n', "N", 0, "the first N names; 0: all (20)", 0},
		{"json", 'j', NULL, 0, "print JSON, times in nanoseconds", 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "A B",
		.doc = "What changed from run A to run B, each a trace or a "
		       "folder of traces, ours or torch.profiler's.\vWhat "
		       "differs by no more than noise is not called a change.  "
		       "Ends with 1 when a rule is broken, with 3 when a file "
		       "cannot be read or a rule not be judged.",
	};
	struct diff_arguments arguments = {.top = 20};
	int code;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	if (!trace_reader_available())
		return command_needs_yajl("diff");
	setlocale(LC_CTYPE, "");
	code = run(&arguments);
	free(arguments.rules);
	return code;
}
