/* SPDX-License-Identifier: MIT */
/*
 * command.c - argp with our exit codes.
 */
#include "tools/util/command.h"

int command_parse(const struct argp *argp, int argc, char **argv,
		  unsigned int flags, void *input)
{
	argp_err_exit_status = EXIT_USAGE;
	return argp_parse(argp, argc, argv, flags, NULL, input);
}
