/* SPDX-License-Identifier: MIT */
/*
 * compress_command.c - `traceprof compress FILE...`: finished traces in as few
 * bytes as can be.
 */
#include <stdio.h>

#include "tools/util/command.h"
#include "tools/util/quantity.h"
#include "tools/compress.h"

static const struct argp_option choices[] = {{0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
	int *first = state->input;

	(void)text;
	switch (key) {
	case ARGP_KEY_ARGS: *first = state->next; return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "no FILE given"); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int compress_one(const char *path)
{
	struct compress_result result;

	if (compress_trace(path, &result)) {
		fprintf(stderr, "traceprof compress: %s: %s\n", path,
			result.why);
		return EXIT_UNREADABLE;
	}
	if (result.bytes_after == result.bytes_before)
		printf("%s: as small as it gets\n", path);
	else
		printf("%s: %s, was %s\n", path,
		       quantity_bytes((double)result.bytes_after).text,
		       quantity_bytes((double)result.bytes_before).text);
	return EXIT_GOOD;
}

int compress_command(int argc, char **argv)
{
	static const struct argp argp = {
		choices,
		parse,
		"FILE...",
		"Compress finished traces once more, slowly and as small as "
		"can be.\vEach FILE is replaced, by rename, by one with the "
		"same text and mode; one that is not finished is left alone.  "
		"Ends with 3 when a file could not be compressed.",
		NULL,
		NULL,
		NULL,
	};
	int first = 0, code = EXIT_GOOD;

	if (command_parse(&argp, argc, argv, 0, &first))
		return EXIT_USAGE;
	for (int at = first; at < argc; at++) {
		const int one = compress_one(argv[at]);

		if (one != EXIT_GOOD)
			code = one;
	}
	return code;
}
