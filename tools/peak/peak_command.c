/* SPDX-License-Identifier: MIT */
/* peak_command.c - `traceprof peak`: what this machine can do. */
#include <stdio.h>
#include <string.h>

#include "tools/peak/peak.h"
#include "tools/util/command.h"

struct peak_arguments {
	bool again;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct peak_arguments *arguments = state->input;

	(void)text;
	if (key != 'a')
		return ARGP_ERR_UNKNOWN;
	arguments->again = true;
	return 0;
}

static void print_row(const char *name, double flops32, double flops64,
		      double bytes)
{
	printf("%-10s float %.1f GFLOP/s, double %.1f GFLOP/s, memory %.1f "
	       "GB/s; compute-bound from %.1f FLOP a byte on (double)\n",
	       name, flops32 / 1e9, flops64 / 1e9, bytes / 1e9,
	       flops64 / bytes);
}

static void print(const struct peak *peak)
{
	char cores[32];

	snprintf(cores, sizeof(cores), "%ld cores", (long)peak->cores);
	printf("%s: %s\n", peak->host, peak->processor);
	print_row(cores, peak->float_flops, peak->double_flops,
		  peak->memory_bytes);
	print_row("one core", peak->core_float_flops, peak->core_double_flops,
		  peak->core_memory_bytes);
}

static const struct argp_option choices[] = {
	{"again", 'a', NULL, 0, "measure although it is known", 0},
	{0},
};

int peak_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.doc = "Measures once how many floating-point operations this "
		       "machine does in a second, and how many bytes it moves "
		       "between memory and its processors, and keeps it for "
		       "`traceprof report`.  Takes a few seconds and all "
		       "processors: best on an idle machine.\vEnds with 1 when "
		       "it can't be kept.",
	};
	struct peak_arguments arguments = {false};
	struct peak peak, known;
	char path[4096];
	int rc;

	if (command_parse(&argp, argc, argv, 0, &arguments))
		return EXIT_USAGE;
	peak_name(&peak);
	if (!arguments.again && !peak_read(NULL, &known) &&
	    known.cores == peak.cores &&
	    !strcmp(known.processor, peak.processor)) {
		print(&known);
		return EXIT_GOOD;
	}
	rc = peak_measure(&peak);
	if (!rc) {
		print(&peak);
		rc = peak_write(&peak);
	}
	if (rc) {
		fprintf(stderr, "traceprof peak: %s: %s\n",
			peak_path(peak.host, path, sizeof(path))
				? "no place to keep it"
				: path,
			strerror(-rc));
		return EXIT_FOUND;
	}
	return EXIT_GOOD;
}
