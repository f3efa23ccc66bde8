/* SPDX-License-Identifier: MIT */
/*
 * source_lines.h - from an address in a module to function, file and line.
 *
 * A module is looked up where it was when it was recorded; if that is another
 * file by now, or none, by its build-id under the folder of debug files.  Then
 * come separate debug files in the system's places, and a server of them where
 * DEBUGINFOD_URLS names one (libdw's doing).  An address that code was inlined
 * into stands for several frames.
 */
#ifndef TOOLS_SOURCE_LINES_H
#define TOOLS_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_FRAMES_MAX 16

/* The texts live as long as the finder; file NULL: the line isn't known. */
struct source_frame {
	const char *function;
	const char *file;
	int line;
};

struct source_finder;

/* debug_dir: NULL the system's places alone. */
struct source_finder *source_finder_new(const char *debug_dir);

/* A module of the trace; build_id in hexadecimal, "" none. */
void source_finder_module(struct source_finder *finder, const char *path,
			  const char *build_id);

/* The process whose /tmp/perf-PID.map names code without a module. */
void source_finder_process(struct source_finder *finder, int64_t pid);

/* The frames of a virtual address in the module of this name (the path's last
 * part), innermost first, at most SOURCE_FRAMES_MAX; 0: nothing is known.
 * `function` of a frame may be NULL: the name that the trace has is as good. */
size_t source_find(struct source_finder *finder, const char *module,
		   uint64_t address, struct source_frame *frames);

/* Modules that were asked for and not found as they were recorded: how many,
 * and the path of one. */
size_t source_finder_missing(const struct source_finder *finder,
			     const char **path);

void source_finder_free(struct source_finder *finder);

/* False without libdw: then source_find() knows nothing. */
bool source_finder_available(void);

#endif
