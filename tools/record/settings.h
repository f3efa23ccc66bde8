/* SPDX-License-Identifier: MIT */
/*
 * settings.h - the rows of OPTIONS(X) as command-line options.
 *
 * `record` and `plan` take the same settings as the environment does:
 * TRACEPROF_MAX_MB is --max-mb.  What is given on the command line is checked
 * there and then, and put into the environment, where the library finds it.
 */
#ifndef TOOLS_SETTINGS_H
#define TOOLS_SETTINGS_H

#include <argp.h>

#include "collector/control/options.h"

/* argp's options for the rows that take() accepts (NULL: all), after those of
 * a command's own (ended by {0}).  Keys are SETTINGS_KEY + row. */
#define SETTINGS_KEY 0x1000

struct argp_option *settings_options(const struct argp_option *own,
				     bool (*take)(unsigned int row));

/* Handles an argp key of ours: checks the value, keeps it in `options` and, if
 * `environment` is true, sets the variable.  ARGP_ERR_UNKNOWN for other keys;
 * a bad value ends the command as argp_error() does. */
error_t settings_parse(struct options *options, bool environment, int key,
		       const char *value, struct argp_state *state);

/* The key of the option that sets TRACEPROF_`name`, which there is. */
int settings_key(const char *name);

/* A word that is no option: true where it is a number right behind an option
 * whose value may be left out, as in "--sample 500", and was taken for it. */
bool settings_take_number(struct options *options, const char *word,
			  struct argp_state *state);

/* Fills in `options` from defaults and environment; what is wrong there is said
 * in one line each, and taken out of the environment so that nobody says it
 * again. */
void settings_from_environment(struct options *options);

#endif
