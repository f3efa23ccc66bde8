/* SPDX-License-Identifier: MIT */
/*
 * doctor_command.c - `traceprof doctor [-- COMMAND]`: what would be recorded
 * here, what not, and what to do about it.
 */
#include "tools/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/color.h"
#include "tools/util/command.h"
#include "tools/util/memory.h"
#include "tools/util/text_wrap.h"
#include "tools/util/text_wrap.h"

#ifdef HAVE_YAJL
#include "tools/util/json_print.h"
#endif

struct doctor_arguments {
	int command; /* in argv; 0: none given */
	bool json;
};

static const char *const level_names[] = {
	[DOCTOR_GOOD] = "ok",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_STOP] = "NO",
};

void doctor_say(struct doctor *doctor, enum doctor_level level,
		const char *subject, const char *advice, const char *format,
		...)
{
	struct doctor_finding finding = {level, subject, advice, NULL};
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&finding.text, format, arguments) < 0)
		memory_exhausted();
	va_end(arguments);
	doctor->findings = memory_grow(doctor->findings, doctor->count,
				       &doctor->capacity, sizeof(finding));
	doctor->findings[doctor->count++] = finding;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct doctor_arguments *arguments = state->input;

	(void)text;
	switch (key) {
	case 'j': arguments->json = true; return 0;
	case ARGP_KEY_ARG:
		arguments->command = state->next - 1;
		state->next = state->argc;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static enum doctor_level worst(const struct doctor *doctor)
{
	enum doctor_level level = DOCTOR_GOOD;

	for (size_t i = 0; i < doctor->count; i++)
		if (doctor->findings[i].level > level)
			level = doctor->findings[i].level;
	return level;
}

/* Where the text of a finding begins, and where it goes on. */
#define TEXT_AT 19

static void print_finding(const struct doctor_finding *finding)
{
	static const enum color colors[] = {
		[DOCTOR_GOOD] = COLOR_GOOD,
		[DOCTOR_NOTE] = COLOR_NOTE,
		[DOCTOR_STOP] = COLOR_BAD,
	};

	text_wrap_print(stdout, TEXT_AT, "%s%-4s%s  %-11s  %s\n",
			color_begin(stdout, colors[finding->level]),
			level_names[finding->level], color_end(stdout),
			finding->subject, finding->text);
	if (finding->advice)
		text_wrap_print(stdout, TEXT_AT + 3, "%*s-> %s\n", TEXT_AT, "",
				finding->advice);
}

static void print_text(const struct doctor *doctor)
{
	static const char *const verdicts[] = {
		[DOCTOR_GOOD] = "All would be recorded.",
		[DOCTOR_NOTE] = "It would be recorded; see the notes.",
		[DOCTOR_STOP] = "Nothing would be recorded.",
	};

	for (size_t i = 0; i < doctor->count; i++)
		print_finding(&doctor->findings[i]);
	printf("\n%s\n", verdicts[worst(doctor)]);
}

#ifdef HAVE_YAJL
static void print_json(const struct doctor *doctor)
{
	yajl_gen gen = json_print_begin(stdout, true);

	json_print_bool(gen, "recordable", worst(doctor) != DOCTOR_STOP);
	json_print_list(gen, "findings");
	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		yajl_gen_map_open(gen);
		json_print_text(gen, "level",
				finding->level == DOCTOR_STOP
					? "no"
					: level_names[finding->level]);
		json_print_text(gen, "subject", finding->subject);
		json_print_text(gen, "text", finding->text);
		if (finding->advice)
			json_print_text(gen, "advice", finding->advice);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	json_print_end(gen);
}
#endif

static int print(const struct doctor *doctor, bool json)
{
#ifdef HAVE_YAJL
	if (json)
		print_json(doctor);
#else
	if (json)
		return command_needs_yajl("doctor");
#endif
	if (!json)
		print_text(doctor);
	return worst(doctor) == DOCTOR_STOP ? EXIT_FOUND : EXIT_GOOD;
}

int doctor_command(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{.name = "json", .key = 'j', .doc = "print it for programs"},
		{0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[-- COMMAND [ARGUMENT...]]",
		.doc = "Say what would be recorded on this machine, and of a "
		       "COMMAND, and what not.\vThe command is not run.  Ends "
		       "with 1 if nothing would be recorded.",
	};
	struct doctor_arguments arguments = {0};
	struct doctor doctor = {0};
	int code;

	if (command_parse(&argp, argc, argv, ARGP_IN_ORDER, &arguments))
		return EXIT_USAGE;
	doctor_look_at_machine(&doctor);
	doctor_look_at_gpu(&doctor);
	if (arguments.command)
		doctor_look_at_program(&doctor, argv[arguments.command]);
	code = print(&doctor, arguments.json);
	for (size_t i = 0; i < doctor.count; i++)
		free(doctor.findings[i].text);
	free(doctor.findings);
	return code;
}
