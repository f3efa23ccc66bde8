/* SPDX-License-Identifier: MIT */
/*
 * main.c - `traceprof <command>`: finds the command and calls it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/control/options.h"
#include "tools/util/command.h"
#include "writer/text/schema.h"

static const struct command commands[] = {
	{"record", record_command, "run a program and record it", "-- ./train"},
	{"report", report_command, "totals, imbalance and steps of a trace",
	 "--top 10 traceprof/*.gz"},
	{"html", html_command, "a page to look at, of traces",
	 "traceprof/*.gz -o page.html"},
	{"export", export_command,
	 "write a trace for Perfetto, flame graphs, SQL or CSV",
	 "--sqlite traceprof/*.gz"},
	{"memory", memory_command, "who holds the memory, and what grows",
	 "traceprof/*.gz"},
	{"symbolize", symbolize_command,
	 "write files and lines into a trace's call stacks",
	 "trace.pt.trace.json.gz"},
	{"peak", peak_command, "measure what this machine can do", ""},
	{"diff", diff_command, "what changed between two runs",
	 "before/ after/ --fail-if 'step>3%'"},
	{"merge", merge_command, "make one trace of several",
	 "traceprof/*_rank*.gz -o job.pt.trace.json.gz"},
	{"baseline", baseline_command, "keep a run for diff, in a small file",
	 "traceprof/ -o baseline.json"},
	{"check", check_command, "check a trace against the format's rules",
	 "traceprof/*.gz"},
	{"recover", recover_command, "finish the traces of crashed runs",
	 "traceprof/"},
	{"ctl", ctl_command,
	 "start and stop the recording of a running program",
	 "4242 start --steps 5"},
	{"top", top_command, "watch a program while it is recorded",
	 "$(pidof train)"},
	{"open", open_command, "show a trace in Perfetto, from this machine",
	 "trace.pt.trace.json.gz"},
	{"compress", compress_command, "make finished traces smaller",
	 "traceprof/*.gz"},
	{"plan", plan_command, "show which steps a schedule records",
	 "--wait 3 --active 2 --steps 20"},
	{"steps", steps_command, "show the loops in a trace, and set the step",
	 "trace.pt.trace.json.gz"},
	{"doctor", doctor_command, "say what would be recorded here",
	 "-- ./train"},
	{"options", options_command, "list all settings", ""},
	{"completion", completion_command,
	 "complete commands and options in a shell",
	 "bash > ~/.traceprof.bash"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	fputs("Usage: traceprof <command> [options]\n"
	      "Records native programs as traces in torch.profiler's format, "
	      "and reads them.\n\n",
	      out);
	for (size_t at = 0; at < COMMAND_COUNT; at++)
		fprintf(out, "  %-11s%s\n", commands[at].name,
			commands[at].help);
	fputs("\n`traceprof <command> --help` says more.\n", out);
}

static const char *nearest(const char *word)
{
	size_t best = 0;

	for (size_t at = 1; at < COMMAND_COUNT; at++)
		if (options_distance(word, commands[at].name) <
		    options_distance(word, commands[best].name))
			best = at;
	return commands[best].name;
}

/* Whoever reads has closed the pipe, as head does: it has what it wanted. */
static bool is_left(void)
{
	struct pollfd end = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&end, 1, 0) == 1 && (end.revents & POLLERR);
}

/* A command is no success if what it said was lost: a full disk.  It may end in
 * argp, as all do that are asked for help. */
static void before_exit(int status, void *name)
{
	const bool is_flushed = !fflush(stdout);
	const char *why =
		is_flushed ? "not all could be written" : strerror(errno);

	if ((is_flushed && !ferror(stdout)) || is_left())
		return;
	fprintf(stderr, "%s: standard output: %s\n", (const char *)name, why);
	fflush(NULL);
	if (!status)
		_exit(EXIT_UNREADABLE);
}

int main(int argc, char **argv)
{
	static char name[64] = "traceprof";

	command_list = commands;
	command_count = COMMAND_COUNT;
	on_exit(before_exit, name);
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_help(stdout);
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("traceprof " TRACEPROF_VERSION);
		return EXIT_GOOD;
	}
	for (size_t at = 0; at < COMMAND_COUNT; at++) {
		if (strcmp(argv[1], commands[at].name))
			continue;
		snprintf(name, sizeof(name), "traceprof %s", argv[1]);
		argv[1] = name;
		return commands[at].run(argc - 1, argv + 1);
	}
	fprintf(stderr,
		"traceprof: no command \"%.40s\"; did you mean \"%s\"?\n",
		argv[1], nearest(argv[1]));
	return EXIT_USAGE;
}
