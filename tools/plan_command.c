/* SPDX-License-Identifier: MIT */
/*
 * plan_command.c - `traceprof plan`: which step is recorded in which file.
 *
 * Asks the library's own function about each step that may differ from the one
 * before it, so that what is shown is what will happen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/control/window.h"
#include "tools/util/command.h"
#include "tools/util/numbers.h"
#include "tools/record/settings.h"

/* Shown of a schedule without end. */
#define CYCLES_SHOWN 3
/* Shown at all. */
#define SPANS_SHOWN  200

enum { KEY_STEPS = 'n' };

struct plan_arguments {
	struct options options;
	int64_t steps; /* -1: as many as the schedule needs */
};

struct span {
	int64_t first, last;
	enum window_action action; /* RECORD stands for both */
	int64_t cycle;
};

static bool is_schedule(unsigned int row)
{
	return row == OPTION_AT_skip_first ||
	       row == OPTION_AT_skip_first_wait || row == OPTION_AT_wait ||
	       row == OPTION_AT_warmup || row == OPTION_AT_active ||
	       row == OPTION_AT_repeat;
}

static enum window_action action_of(const struct schedule *schedule,
				    int64_t step)
{
	const enum window_action action = window_action(schedule, step);

	return action == WINDOW_RECORD_AND_SAVE ? WINDOW_RECORD : action;
}

static void print_span(const struct span *span, bool open_end)
{
	char place[64];

	if (open_end)
		snprintf(place, sizeof(place), "from step %" PRId64,
			 span->first);
	else if (span->first == span->last)
		snprintf(place, sizeof(place), "step  %" PRId64, span->first);
	else
		snprintf(place, sizeof(place), "steps %" PRId64 "-%" PRId64,
			 span->first, span->last);
	printf("%-24s ", place);
	switch (span->action) {
	case WINDOW_WARMUP: puts("warm up"); break;
	case WINDOW_RECORD:
	case WINDOW_RECORD_AND_SAVE:
		printf("recorded in file %" PRId64 "\n", span->cycle + 1);
		break;
	case WINDOW_NONE: puts("not recorded"); break;
	}
}

/* The spans of one action up to `end` (exclusive); how many files are whole. */
static int64_t print_spans(const struct schedule *schedule, int64_t end)
{
	struct span span = {.first = 0};
	int64_t files = 0;

	for (int shown = 0; shown < SPANS_SHOWN && span.first < end; shown++) {
		int64_t next = window_next_change(schedule, span.first);

		span.action = action_of(schedule, span.first);
		span.cycle = window_cycle(schedule, span.first);
		while (next < end && action_of(schedule, next) == span.action &&
		       window_cycle(schedule, next) == span.cycle)
			next = window_next_change(schedule, next);
		span.last = (next < end ? next : end) - 1;
		print_span(&span, next == INT64_MAX && end == INT64_MAX);
		if (span.action == WINDOW_RECORD && next <= end &&
		    next != INT64_MAX)
			files++;
		if (next == INT64_MAX)
			return files;
		span.first = next;
	}
	if (span.first < end)
		puts("and so on");
	return files;
}

/* Steps that show the whole schedule, or its first cycles. */
static int64_t steps_worth_showing(const struct schedule *schedule)
{
	const int64_t cycles =
		schedule->repeat ? schedule->repeat : CYCLES_SHOWN;
	int64_t length, steps;

	if (schedule->always || schedule->active == INT64_MAX)
		return INT64_MAX;
	length = schedule->wait + schedule->warmup + schedule->active;
	if (__builtin_mul_overflow(length, cycles, &steps) ||
	    __builtin_add_overflow(steps, schedule->skip_first, &steps))
		return INT64_MAX;
	if (schedule->skip_first_wait)
		steps -= schedule->wait;
	return schedule->repeat && cycles <= SPANS_SHOWN ? INT64_MAX : steps;
}

/* How many steps the run must have; whether it has. */
static int print_needs(const struct plan_arguments *arguments,
		       const struct schedule *schedule, int64_t files)
{
	const int64_t needed = window_steps_needed(schedule);
	const int64_t steps = arguments->steps;

	if (schedule->active == INT64_MAX)
		printf("\nRecording begins with step %" PRId64
		       " and lasts to the end of the run.\n",
		       needed - 1);
	else
		printf("\nThe first file is whole after %" PRId64 " step%s.\n",
		       needed, needed == 1 ? "" : "s");
	if (steps < 0)
		return EXIT_GOOD;
	if (schedule->active != INT64_MAX)
		printf("%" PRId64 " step%s make %" PRId64 " whole file%s.\n",
		       steps, steps == 1 ? "" : "s", files,
		       files == 1 ? "" : "s");
	if (steps < needed)
		puts("The run is too short for the schedule.");
	return steps < needed ? EXIT_FOUND : EXIT_GOOD;
}

static int print_plan(const struct plan_arguments *arguments)
{
	const int64_t steps = arguments->steps;
	struct schedule schedule;
	int64_t end, files;

	schedule_from_options(&arguments->options, &schedule);
	if (schedule.always) {
		puts("No schedule: the whole run is recorded in one file.");
		return EXIT_GOOD;
	}
	end = steps >= 0 ? steps : steps_worth_showing(&schedule);
	files = print_spans(&schedule, end);
	if (steps < 0 && !schedule.repeat && schedule.active != INT64_MAX)
		puts("and so on to the end of the run");
	return print_needs(arguments, &schedule, files);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct plan_arguments *arguments = state->input;

	switch (key) {
	case KEY_STEPS:
		if (decimal_to_integer(text, strlen(text), &arguments->steps) ||
		    arguments->steps < 0)
			argp_error(state, "--steps %s: not a number of steps",
				   text);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument %s", text);
		return 0;
	default:
		return settings_parse(&arguments->options, false, key, text,
				      state);
	}
}

int plan_command(int argc, char **argv)
{
	static const struct argp_option own[] = {
		{"steps", KEY_STEPS, "N", 0, "steps that the run has", 0},
		{0},
	};
	const struct argp argp = {
		.options = settings_options(own, is_schedule),
		.parser = parse,
		.doc = "Show which steps are recorded, and in which file.\v"
		       "Takes the schedule from the options and from the "
		       "environment.  Steps are counted from 0.  Ends with 1 "
		       "when --steps are too few for the first file.",
	};
	struct plan_arguments arguments = {.steps = -1};
	int error;

	settings_from_environment(&arguments.options);
	error = command_parse(&argp, argc, argv, 0, &arguments);
	return error ? EXIT_USAGE : print_plan(&arguments);
}
