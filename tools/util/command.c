/* SPDX-License-Identifier: MIT */
/*
 * command.c - argp with our exit codes, and what all commands have in common.
 */
#include "tools/util/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/color.h"

const struct command *command_list;
size_t command_count;

/* Set while somebody wants options and nothing else. */
static void (*visitor)(void *arg, const struct argp_option *option);
static void *visitor_arg;

static const char *called; /* "traceprof report" */

static error_t parse_color(int key, char *text, struct argp_state *state)
{
	if (key != COLOR_KEY)
		return ARGP_ERR_UNKNOWN;
	if (color_choose(text))
		argp_error(state, "--color %s: auto, always or never", text);
	return 0;
}

static const struct argp_option common[] = {
	{"color", COLOR_KEY, "WHEN", 0,
	 "auto (on a terminal, and not where NO_COLOR is set), always, never",
	 -1},
	{0},
};

static const char *example_of(void)
{
	const char *name = strchr(called, ' ');

	for (size_t at = 0; name && at < command_count; at++)
		if (!strcmp(command_list[at].name, name + 1))
			return command_list[at].example;
	return NULL;
}

/* argp frees what differs from `text`. */
static char *add_example(int key, const char *text, void *input)
{
	const char *example = example_of();
	char *more;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA || !example ||
	    asprintf(&more, "Example: %s %s", called, example) < 0)
		return (char *)text;
	return more;
}

int command_parse(const struct argp *argp, int argc, char **argv,
		  unsigned int flags, void *input)
{
	static const struct argp color = {
		.options = common,
		.parser = parse_color,
	};
	const struct argp_child children[] = {{&color, 0, NULL, 0}, {0}};
	struct argp all = *argp;

	if (visitor) {
		for (const struct argp_option *option = argp->options;
		     option && (option->name || option->key || option->doc);
		     option++)
			visitor(visitor_arg, option);
		visitor(visitor_arg, common);
		return ECANCELED;
	}
	all.children = children;
	all.help_filter = add_example;
	called = argv[0];
	argp_err_exit_status = EXIT_USAGE;
	return argp_parse(&all, argc, argv, flags, NULL, input);
}

void command_visit_options(const struct command *command,
			   void (*visit)(void *arg,
					 const struct argp_option *option),
			   void *arg)
{
	char name[] = "traceprof";
	char *argv[] = {name, NULL};

	visitor = visit;
	visitor_arg = arg;
	command->run(1, argv);
	visitor = NULL;
}

error_t command_parse_files(int key, char *text, struct argp_state *state)
{
	(void)text;
	switch (key) {
	case ARGP_KEY_ARGS: *(int *)state->input = state->next; return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "no FILE given"); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int command_needs_yajl(const char *command)
{
	fprintf(stderr,
		"traceprof %s: needs yajl: install libyajl-dev and make "
		"again\n",
		command);
	return EXIT_UNREADABLE;
}
