/* SPDX-License-Identifier: MIT */
/* trace_part.h - a trace file, or where it is large its last part alone. */
#ifndef TOOLS_TRACE_PART_H
#define TOOLS_TRACE_PART_H

#include "tools/trace/trace_reader.h"

/* The last `bytes` of the file alone, of which all events are there that ended
 * after *from_ns; the whole one, and INT64_MIN, where it is no larger or not
 * ours.  That it isn't finished is said on stderr. */
int trace_read_last(const char *path, uint64_t bytes,
		    const struct trace_sink *sink, struct trace_facts *facts,
		    int64_t *from_ns);

#endif
