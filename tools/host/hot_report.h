/* SPDX-License-Identifier: MIT */
/*
 * hot_report.h - `traceprof report --hot`: the choices and the views.
 */
#ifndef TOOLS_HOT_REPORT_H
#define TOOLS_HOT_REPORT_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/host/hot_phases.h"

struct hot_choice {
	bool io; /* files instead */
	bool is_wanted, folded, speedscope, pprof, by_line, diff, json;
	bool is_wrong; /* one could not be taken, which was said */
	enum hot_phase phase;
	size_t top;
	const char *flame; /* the SVG to write */
};

/* Its options, to stand among a command's. */
#define HOT_OPTIONS                                                            \
	{"hot",                                                                \
	 0x201,                                                                \
	 NULL,                                                                 \
	 0,                                                                    \
	 "functions by their processor time, from samples",                    \
	 1},                                                                   \
		{"lines",                                                      \
		 0x202,                                                        \
		 NULL,                                                         \
		 0,                                                            \
		 "with --hot: functions by line, inlined ones apart",          \
		 1},                                                           \
		{"flame",                                                      \
		 0x203,                                                        \
		 "OUT.svg",                                                    \
		 0,                                                            \
		 "write a flame graph that zooms and searches",                \
		 1},                                                           \
		{"folded",                                                     \
		 0x204,                                                        \
		 NULL,                                                         \
		 0,                                                            \
		 "call paths, one a line, in microseconds",                    \
		 1},                                                           \
		{"speedscope",                                                 \
		 0x205,                                                        \
		 NULL,                                                         \
		 0,                                                            \
		 "call paths as speedscope reads them",                        \
		 1},                                                           \
		{"pprof",                                                      \
		 0x208,                                                        \
		 NULL,                                                         \
		 0,                                                            \
		 "call paths as pprof reads them, gzipped",                    \
		 1},                                                           \
		{"phase",                                                      \
		 0x209,                                                        \
		 "WHAT",                                                       \
		 0,                                                            \
		 "with these: regions (in OpenMP's), between (them), or "      \
		 "gpu-idle",                                                   \
		 1},                                                           \
		{"io",                                                         \
		 0x207,                                                        \
		 NULL,                                                         \
		 0,                                                            \
		 "what was read from and written to files, by path",           \
		 1},                                                           \
	{                                                                      \
		"diff", 0x206, NULL, 0,                                        \
			"with --hot or --flame: what the second file has "     \
			"more or less of",                                     \
			1                                                      \
	}

/* Takes one of these options.  False: it is none. */
bool hot_take(struct hot_choice *choice, int key, char *text);

/* The command's status. */
int hot_report(const struct hot_choice *choice, char **paths, int count);

#endif
