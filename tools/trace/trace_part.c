/* SPDX-License-Identifier: MIT */
/* trace_part.c - reads the last part of a trace; see trace_part.h. */
#include "tools/trace/trace_part.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/trace/trace_last.h"

int trace_read_last(const char *path, uint64_t bytes,
		    const struct trace_sink *sink, struct trace_facts *facts,
		    int64_t *from_ns)
{
	struct trace_last last;
	int error = trace_last_find(path, bytes, &last);
	const bool is_whole = error == -ENOENT;

	*from_ns = is_whole ? INT64_MIN : last.from_ns;
	if (!error || is_whole)
		error = trace_read_part(path, is_whole ? NULL : &last, sink,
					facts);
	else
		snprintf(facts->error, sizeof(facts->error), "%s",
			 strerror(-error));
	trace_last_free(&last);
	if (!error && facts->unfinished.is_so)
		trace_progress_say(&facts->unfinished, path);
	return error;
}
