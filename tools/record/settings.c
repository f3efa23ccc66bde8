/* SPDX-License-Identifier: MIT */
/*
 * settings.c - the rows of OPTIONS(X) as command-line options.
 */
#include "tools/record/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#define NAME_BYTES 64

extern char **environ;

/* MAX_MB becomes max-mb. */
static const char *flag_name(const char *name)
{
	char *flag = memory_zeroed(strlen(name) + 1, 1);

	for (size_t at = 0; name[at]; at++)
		flag[at] = name[at] == '_'
				   ? '-'
				   : (char)tolower((unsigned char)name[at]);
	return flag;
}

static const char *help_of(const struct option_row *row)
{
	char *text;
	int len;

	if (row->type == OPTION_CHOICE)
		len = asprintf(&text, "%s; %s (%s)", row->help, row->values,
			       row->fallback);
	else if (row->type == OPTION_FLAG || !row->fallback[0])
		len = asprintf(&text, "%s", row->help);
	else if (row->type == OPTION_INT && !strcmp(row->fallback, "0"))
		len = asprintf(&text, "%s", row->help);
	else
		len = asprintf(&text, "%s (%s)", row->help, row->fallback);
	return len < 0 ? row->help : text;
}

static bool is_optional(const struct option_row *row)
{
	return row->type == OPTION_FLAG || !strncmp(row->values, "0|1", 3) ||
	       (row->type == OPTION_INT && row->values[0]);
}

/* What the option means alone. */
static const char *value_alone(const struct option_row *row)
{
	return row->type == OPTION_INT ? strchr(row->values, '|') + 1 : "1";
}

/* All lists that were made: they live as long as the command. */
struct settings_list {
	struct settings_list *older;
	struct argp_option options[];
};

static struct settings_list *newest_list;

struct argp_option *settings_options(const struct argp_option *own,
				     bool (*take)(unsigned int row))
{
	struct settings_list *list;
	struct argp_option *options;
	size_t count = 0;

	while (own[count].name)
		count++;
	list = memory_zeroed(1, sizeof(*list) + (count + option_row_count + 1) *
							sizeof(*options));
	list->older = newest_list;
	newest_list = list;
	options = list->options;
	memcpy(options, own, count * sizeof(*options));
	for (unsigned int row = 0; row < option_row_count; row++) {
		if (take && !take(row))
			continue;
		options[count++] = (struct argp_option){
			.name = flag_name(option_rows[row].name),
			.key = SETTINGS_KEY + (int)row,
			.arg = option_rows[row].argument,
			.flags = is_optional(&option_rows[row])
					 ? OPTION_ARG_OPTIONAL
					 : 0,
			.doc = help_of(&option_rows[row]),
		};
	}
	return options;
}

int settings_key(const char *name)
{
	unsigned int row = 0;

	while (strcmp(option_rows[row].name, name) != 0)
		row++;
	return SETTINGS_KEY + (int)row;
}

error_t settings_parse(struct options *options, bool environment, int key,
		       const char *value, struct argp_state *state)
{
	const unsigned int row = (unsigned int)(key - SETTINGS_KEY);
	char name[NAME_BYTES + 16], why[512];
	char *tail;

	if (key < SETTINGS_KEY || row >= option_row_count)
		return ARGP_ERR_UNKNOWN;
	if (!value)
		value = value_alone(&option_rows[row]);
	if (options_set(options, option_rows[row].name, value, why,
			sizeof(why))) {
		/* The library goes on with the default; we do not. */
		tail = strstr(why, "; using ");
		if (tail)
			*tail = '\0';
		argp_error(state, "%s", why);
	}
	if (environment) {
		snprintf(name, sizeof(name), "TRACEPROF_%.*s", NAME_BYTES,
			 option_rows[row].name);
		setenv(name, value, 1);
	}
	return 0;
}

bool settings_take_number(struct options *options, const char *word,
			  struct argp_state *state)
{
	const char *before = state->argv[state->next - 2];

	if (state->next < 3 || strncmp(before, "--", 2) || !word[0] ||
	    word[strspn(word, "0123456789")])
		return false;
	for (unsigned int row = 0; row < option_row_count; row++) {
		if (is_optional(&option_rows[row]) &&
		    !strcmp(before + 2, flag_name(option_rows[row].name)))
			return !settings_parse(options, true,
					       SETTINGS_KEY + (int)row, word,
					       state);
	}
	return false;
}

static bool is_wrong;

static void note_wrong(const char *line)
{
	fprintf(stderr, "traceprof: %s\n", line);
	is_wrong = true;
}

void settings_from_environment(struct options *options)
{
	char *one[2] = {NULL, NULL};
	size_t at = 0;

	options_default(options);
	while (environ && environ[at]) {
		char name[NAME_BYTES + 16];
		const size_t len = strcspn(environ[at], "=");

		one[0] = environ[at++];
		is_wrong = false;
		options_read(options, one, note_wrong);
		if (!is_wrong || len >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len, one[0]);
		unsetenv(name); /* what follows moves up */
		at--;
	}
}
