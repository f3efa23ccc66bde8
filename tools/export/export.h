/* SPDX-License-Identifier: MIT */
/*
 * export.h - a trace in other formats.
 *
 * Each writer reads the file by itself, event by event, and answers 0 or -errno
 * with one line in `why`.  What a format can't hold is counted and said.
 */
#ifndef TOOLS_EXPORT_H
#define TOOLS_EXPORT_H

#include <zlib.h>

#include "tools/trace/trace_reader.h"

#define EXPORT_WHY 320u

/* Perfetto's own format (protobuf); gzipped where output ends with ".gz".
 * Holds the events in memory, about 70 bytes each. */
int export_perfetto(const char *file, const char *output, char *why);

/* "thread;outer;inner <self ns>" lines, for flame graphs. */
int export_folded(const char *file, const char *output, char *why);

/* One row an event. */
int export_csv(const char *file, const char *output, char *why);

/* A database; docs/export.md has its tables and views. */
int export_sqlite(const char *file, const char *output, char *why);

/* pid and tid as integers; false where either is none. */
bool export_lane(const struct trace_event *event, int64_t *pid, int64_t *tid);

/* The first level of the event's args as one JSON object, what is in arrays and
 * objects left out.  For the next call the text is gone. */
const char *export_args(const struct trace_event *event,
			struct text_buffer *text);

/* A sink's, for who wants events alone. */
void export_no_entry(void *arg, const struct trace_entry *entry);

/* NULL with a line in `why`; - is standard output. */
gzFile export_open(const char *output, const char *mode, char *why);
/* What was begun and is of no use goes, if it is a plain file. */
void export_discard(const char *output);
int export_close(gzFile out, const char *output, char *why);

#endif
