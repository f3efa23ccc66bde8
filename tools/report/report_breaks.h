/* SPDX-License-Identifier: MIT */
/*
 * report_breaks.h - why torch.compile's graphs break: the slices "graph
 * break: REASON" in compilations (docs/frameworks.md).
 */
#ifndef TOOLS_REPORT_BREAKS_H
#define TOOLS_REPORT_BREAKS_H

#include <stdio.h>

#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"

/* Of the compilations that met one reason. */
struct report_break {
	int64_t count;
	int64_t in_vain_ns; /* traced, and then traced again up to the break */
};

struct report_breaks {
	struct key_table reasons; /* struct report_break */
};

/* Any event. */
void report_breaks_event(struct report_breaks *breaks,
			 const struct trace_event *event);
void report_breaks_free(struct report_breaks *breaks);

/* That of reason `at`. */
const struct report_break *report_break(const struct report_breaks *breaks,
					size_t at);

/* A line for each reason, in the order of their first appearance; nothing
 * without any. */
void report_breaks_print(const struct report_breaks *breaks, size_t top,
			 FILE *out);

#endif
