/* SPDX-License-Identifier: MIT */
/*
 * trace_progress.h - whether a file is whole.
 *
 * The writer keeps its file a valid trace all the time, so a file of a program
 * that runs, or whose end is still being written, looks like any other one.
 * Whoever shows what is in it says so, how far it is, and what to do.
 */
#ifndef TOOLS_TRACE_PROGRESS_H
#define TOOLS_TRACE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/util/text_buffer.h"

struct trace_progress {
	bool is_so;
	int64_t written, waiting; /* events in it; recorded and not in it */
};

/* Takes a value of the file by its path, as text. */
void trace_progress_take(struct trace_progress *unfinished, const char *path,
			 const char *text);

/* One sentence, "not finished: ..."; the caller frees it. */
struct text_buffer trace_progress_text(const struct trace_progress *unfinished,
				       const char *file);

/* Says it on stderr, once of a file that is read twice. */
void trace_progress_say(const struct trace_progress *unfinished,
			const char *file);

#endif
