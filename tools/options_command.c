/* SPDX-License-Identifier: MIT */
/*
 * options_command.c - `traceprof options`: all settings, and what this build
 * holds.
 */
#include <inttypes.h>
#include <stdio.h>

#include "collector/control/options.h"
#include "tools/util/command.h"
#include "tools/util/table.h"

static const char *const build[] = {
#ifdef HAVE_CUPTI
	"yes  GPU activity (CUPTI)",
#else
	"no   GPU activity (CUPTI), needs CUDA's headers",
#endif
#ifdef HAVE_DEMANGLE
	"yes  C++ names (libiberty)",
#else
	"no   C++ names (libiberty), needs libiberty-dev",
#endif
#ifdef HAVE_YAJL
	"yes  reading traces (yajl)",
#else
	"no   reading traces (yajl), needs libyajl-dev",
#endif
#ifdef HAVE_SMARTCOLS
	"yes  aligned tables (libsmartcols)",
#else
	"no   aligned tables (libsmartcols), needs libsmartcols-dev",
#endif
};

static void range_cell(struct table *table, const struct option_row *row)
{
	switch (row->type) {
	case OPTION_INT:
		table_cell(table, "%" PRId64 "..%" PRId64, row->low, row->high);
		return;
	case OPTION_SIZE: table_cell(table, "bytes, K, M, G"); return;
	case OPTION_FLAG: table_cell(table, "0|1"); return;
	case OPTION_CHOICE: table_cell(table, "%s", row->values); return;
	case OPTION_TEXT: table_cell(table, "text"); return;
	}
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(state, "unexpected argument %s", text);
	return ARGP_ERR_UNKNOWN;
}

int options_command(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.doc = "List all settings.\vEach is an environment variable "
		       "for LD_PRELOAD, and an option of traceprof record.",
	};
	static const char *const headers[] = {"variable", "default", "values",
					      "meaning"};
	struct table *table;

	if (command_parse(&argp, argc, argv, 0, NULL))
		return EXIT_USAGE;
	table = table_new(TABLE_TEXTS, headers, 4);
	for (unsigned int at = 0; at < option_row_count; at++) {
		const struct option_row *row = &option_rows[at];

		table_cell(table, "TRACEPROF_%s", row->name);
		if (row->type == OPTION_INT && row->low > 0 &&
		    row->fallback[0] == '0')
			table_cell(table, "unset");
		else
			table_cell(table, "%s", row->fallback);
		range_cell(table, row);
		table_cell(table, "%s", row->help);
	}
	table_print(table, stdout);
	fputs("\nTRACEPROF=0 turns everything off.\n", stdout);
	puts("\nIn this build:");
	for (size_t at = 0; at < sizeof(build) / sizeof(build[0]); at++)
		printf("  %s\n", build[at]);
	return EXIT_GOOD;
}
