/* SPDX-License-Identifier: MIT */
/*
 * fuzz_options.c - any text as the value of every option, as an environment, as
 * a step marker and as a coder.
 *
 * What is taken must come out again as a text that is taken.
 */
#include "tests/fuzz/fuzz_input.h"

#include "collector/control/options.h"
#include "collector/control/flight.h"
#include "collector/steps/steps.h"
#include "writer/deflate/coder.h"
#include <string.h>

#define LINES_MAX 64

static void ignore(const char *line)
{
	if (strlen(line) > 4096)
		abort();
}

static void set_one(const char *name, const char *value)
{
	struct options options, again;
	char text[OPTION_TEXT_BYTES], why[256];
	unsigned int row = 0;

	options_default(&options);
	options_default(&again);
	if (options_set(&options, name, value, why, sizeof(why)))
		return;
	while (row < option_row_count && strcmp(option_rows[row].name, name))
		row++;
	if (row == option_row_count)
		return;
	options_text(&options, row, text, sizeof(text));
	if (options_set(&again, name, text, why, sizeof(why)) ||
	    memcmp(&options, &again, sizeof(options)) != 0)
		abort();
}

/* One "NAME=value" a line. */
static void read_lines(char *text)
{
	char *lines[LINES_MAX + 1] = {NULL};
	struct options options;
	size_t count = 0;

	for (char *line = strtok(text, "\n"); line && count < LINES_MAX;
	     line = strtok(NULL, "\n"))
		lines[count++] = line;
	options_default(&options);
	options_read(&options, lines, ignore);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct coder_choice choice;
	struct step_marker marker;
	struct flight flight = {0};
	char why[256];

	memcpy(text, data, size);
	text[size] = '\0';
	for (unsigned int row = 0; row < option_row_count; row++)
		set_one(option_rows[row].name, text);
	set_one(text, "1");
	if (size < 256)
		ignore(options_nearest(text));
	steps_parse(text, &marker, why, sizeof(why));
	signal_name_parse(text, why, sizeof(why));
	flight_parse_length(text, &flight, why, sizeof(why));
	flight_parse_triggers(text, &flight, why, sizeof(why));
	coder_parse(text, &choice, why, sizeof(why));
	read_lines(text);
	free(text);
	return 0;
}
