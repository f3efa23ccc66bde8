/* SPDX-License-Identifier: MIT */
/*
 * hot_lines.h - native samples by source line, inlined functions apart.
 *
 * A slice of samples says at which addresses of its function they lay, eight
 * at most: what is beyond stays with the function as a whole.
 */
#ifndef TOOLS_HOT_LINES_H
#define TOOLS_HOT_LINES_H

#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"

struct hot_lines;

struct hot_lines *hot_lines_new(void);
void hot_lines_free(struct hot_lines *lines);

/* An entry of the file's metadata: its modules. */
void hot_lines_entry(struct hot_lines *lines, const struct trace_entry *entry);

/* What a slice of `function` says of its samples' places, line by line: the
 * functions of a place as numbers of `names`, outermost first. */
typedef void hot_line(void *arg, const uint32_t *functions, uint32_t count,
		      int64_t samples);
void hot_lines_each(struct hot_lines *lines, struct key_table *names,
		    uint32_t function, const char *places, hot_line *line,
		    void *arg);

#endif
