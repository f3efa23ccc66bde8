/* SPDX-License-Identifier: MIT */
/*
 * command.c - argp with our exit codes.
 */
#include "tools/util/command.h"

#include <stdio.h>

int command_parse(const struct argp *argp, int argc, char **argv,
		  unsigned int flags, void *input)
{
	argp_err_exit_status = EXIT_USAGE;
	return argp_parse(argp, argc, argv, flags, NULL, input);
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
