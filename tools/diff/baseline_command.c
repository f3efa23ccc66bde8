/* SPDX-License-Identifier: MIT */
/*
 * baseline_command.c - `traceprof baseline RUN`: what `diff` needs of a run, as
 * a small file that can be kept in a repository.
 *
 * The file is a trace like any other: the steps, laid end to end, and in each
 * step one slice for each name with its time in that step.  run.c knows what
 * stands in its args beside that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/run.h"
#include "tools/util/command.h"

#ifdef HAVE_YAJL
#include "tools/util/json_print.h"

struct baseline_arguments {
	const char *run, *output; /* NULL: standard output */
};

static void time_of(yajl_gen gen, const char *name, double ns)
{
	char text[64];
	const int len = snprintf(text, sizeof(text), "%.3f", ns / 1e3);

	json_print_string(gen, name);
	yajl_gen_number(gen, text, (size_t)len);
}

/* Opens a slice; its args are open at the end. */
static void slice(yajl_gen gen, const char *category, const char *name,
		  int64_t tid, double start_ns, double dur_ns)
{
	yajl_gen_map_open(gen);
	json_print_text(gen, "ph", "X");
	json_print_text(gen, "cat", category);
	json_print_text(gen, "name", name);
	json_print_integer(gen, "pid", 1);
	json_print_integer(gen, "tid", tid);
	time_of(gen, "ts", start_ns);
	time_of(gen, "dur", dur_ns);
	json_print_object(gen, "args");
}

static void slice_end(yajl_gen gen)
{
	yajl_gen_map_close(gen);
	yajl_gen_map_close(gen);
}

static void heap_size(yajl_gen gen, double ns, int64_t bytes)
{
	yajl_gen_map_open(gen);
	json_print_text(gen, "ph", "i");
	json_print_text(gen, "s", "t");
	json_print_text(gen, "cat", "cpu_instant_event");
	json_print_text(gen, "name", "[memory]");
	json_print_integer(gen, "pid", 1);
	json_print_integer(gen, "tid", 0);
	time_of(gen, "ts", ns);
	json_print_object(gen, "args");
	json_print_integer(gen, "Device Type", 0);
	json_print_integer(gen, "Bytes", 0);
	json_print_integer(gen, "Total Allocated", bytes);
	yajl_gen_map_close(gen);
	yajl_gen_map_close(gen);
}

/* The names' slices of one step; the first of a name stands for its calls. */
static void step_names(yajl_gen gen, const struct run *run, size_t step,
		       double start_ns, bool *is_told)
{
	for (size_t at = 0; at < run->names.count; at++) {
		const struct run_name *name = key_table_row(&run->names, at);

		if (!name->step_ns || name->step_ns[step] <= 0)
			continue;
		slice(gen, run_category(run, at), run_name_text(run, at),
		      (int64_t)at + 1, start_ns, (double)name->step_ns[step]);
		json_print_integer(gen, "baseline calls",
				   is_told[at] ? 0 : name->calls);
		slice_end(gen);
		is_told[at] = true;
	}
}

/* Names that are in no step, or had no room, after the last one. */
static void other_names(yajl_gen gen, const struct run *run, double end_ns,
			const bool *is_told)
{
	for (size_t at = 0; at < run->names.count; at++) {
		const struct run_name *name = key_table_row(&run->names, at);

		if (is_told[at])
			continue;
		slice(gen, run_category(run, at), run_name_text(run, at),
		      (int64_t)at + 1, end_ns, (double)name->sum_ns);
		json_print_integer(gen, "baseline calls", name->calls);
		slice_end(gen);
	}
}

static void events(yajl_gen gen, const struct run *run)
{
	bool *is_told = calloc(run->names.count + 1, sizeof(*is_told));
	double start_ns = 0;

	json_print_list(gen, "traceEvents");
	for (size_t at = 0; is_told && at < run->step_count; at++) {
		const struct run_step *step = &run->steps[at];
		char name[64];

		snprintf(name, sizeof(name), "ProfilerStep#%" PRId64,
			 step->number);
		slice(gen, "user_annotation", name, 0, start_ns,
		      (double)step->dur_ns);
		json_print_integer(gen, "baseline file", step->file);
		json_print_integer(gen, "baseline run", step->run);
		slice_end(gen);
		step_names(gen, run, at, start_ns, is_told);
		if (step->live_bytes >= 0)
			heap_size(gen, start_ns, step->live_bytes);
		start_ns += (double)step->dur_ns + 1;
	}
	if (is_told)
		other_names(gen, run, start_ns, is_told);
	yajl_gen_array_close(gen);
	free(is_told);
}

static void print(const struct run *run, FILE *out)
{
	yajl_gen gen = json_print_begin(out, false);

	json_print_integer(gen, "schemaVersion", 1);
	events(gen, run);
	json_print_object(gen, "traceprof");
	if (run->ran_ns > 0) {
		json_print_object(gen, "scheduled");
		json_print_integer(gen, "ran_ns", run->ran_ns);
		json_print_integer(gen, "waited_ns", run->unscheduled_ns);
		json_print_integer(gen, "processors_ns", run->processors_ns);
		json_print_integer(gen, "others_ns", run->others_ns);
		yajl_gen_map_close(gen);
	}
	if (run->peak_bytes >= 0) {
		json_print_object(gen, "heap");
		json_print_integer(gen, "peak_bytes", run->peak_bytes);
		yajl_gen_map_close(gen);
	}
	yajl_gen_map_close(gen);
	json_print_end(gen);
	fputc('\n', out);
}

static error_t parse(int option, char *text, struct argp_state *state)
{
	struct baseline_arguments *arguments = state->input;

	switch (option) {
	case 'o': arguments->output = text; return 0;
	case ARGP_KEY_ARG:
		if (arguments->run)
			argp_error(state, "one run, a file or a folder");
		arguments->run = text;
		return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "no RUN given"); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int keep(const struct baseline_arguments *arguments)
{
	FILE *out = stdout;
	struct run run;
	int code = EXIT_GOOD;

	run_begin(&run);
	if (run_read(&run, arguments->run)) {
		fprintf(stderr, "traceprof baseline: %s\n", run.error);
		code = EXIT_UNREADABLE;
	} else {
		if (arguments->output)
			out = fopen(arguments->output, "w");
		if (out)
			print(&run, out);
		if (!out || ferror(out) || fflush(out) ||
		    (arguments->output && fclose(out))) {
			fprintf(stderr, "traceprof baseline: %s: %m\n",
				arguments->output ? arguments->output
						  : "standard output");
			code = EXIT_UNREADABLE;
		}
	}
	run_free(&run);
	return code;
}
#endif

int baseline_command(int argc, char **argv)
{
#ifdef HAVE_YAJL
	static const struct argp_option options[] = {
		{"output", 'o', "FILE", 0, "write it there", 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "RUN",
		.doc = "Keep what `traceprof diff` needs of a run, a trace or "
		       "a folder of traces, in a small file.\vThe file takes "
		       "the run's place: traceprof diff baseline.json "
		       "traceprof/",
	};
	struct baseline_arguments arguments = {0};

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	return keep(&arguments);
#else
	(void)argc;
	(void)argv;
	return command_needs_yajl("baseline");
#endif
}
