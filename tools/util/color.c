/* SPDX-License-Identifier: MIT */
/* color.c - four colours, by the escapes that every terminal knows. */
#include "tools/util/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum { AUTO, ALWAYS, NEVER } choice;

int color_choose(const char *when)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (int at = AUTO; at <= NEVER; at++)
		if (!strcmp(when, words[at])) {
			choice = at;
			return 0;
		}
	return -1;
}

bool color_is_on(FILE *out)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (choice != AUTO)
		return choice == ALWAYS;
	return !(none && *none) && terminal && strcmp(terminal, "dumb") != 0 &&
	       isatty(fileno(out));
}

const char *color_begin(FILE *out, enum color color)
{
	static const char *const codes[] = {
		[COLOR_HEAD] = "\033[1m",
		[COLOR_GOOD] = "\033[32m",
		[COLOR_NOTE] = "\033[33m",
		[COLOR_BAD] = "\033[1;31m",
	};

	return color_is_on(out) ? codes[color] : "";
}

const char *color_end(FILE *out)
{
	return color_is_on(out) ? "\033[0m" : "";
}
