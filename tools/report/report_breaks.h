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

/* Reasons; a row counts the compilations that met one. */
struct report_breaks {
	struct key_table reasons;
};

/* Any event. */
void report_breaks_event(struct report_breaks *breaks,
			 const struct trace_event *event);
void report_breaks_free(struct report_breaks *breaks);

/* Compilations that met that reason. */
int64_t report_breaks_count(const struct report_breaks *breaks, size_t at);

/* A line for each reason, in the order of their first appearance; nothing
 * without any. */
void report_breaks_print(const struct report_breaks *breaks, size_t top,
			 FILE *out);

#endif
