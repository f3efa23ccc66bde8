/* SPDX-License-Identifier: MIT */
/*
 * called_lines.h - from which lines of the program operators are called.
 *
 * One call a millisecond tells it, so a line has as many as it takes time.
 */
#ifndef TOOLS_CALLED_LINES_H
#define TOOLS_CALLED_LINES_H

#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"

struct called_line {
	int64_t ns;
	uint32_t lane, name; /* the timeline's numbers of them */
	uint32_t line;
	bool is_below; /* packages lie between the line and the call */
};

struct called_lines {
	struct called_line *list; /* in the order of the file */
	size_t count, capacity;
	struct key_table lines; /* "train.py(12): step" */
};

/* A slice on a lane; most say nothing of it. */
void called_lines_event(struct called_lines *called,
			const struct trace_event *event, uint32_t lane,
			uint32_t name);
/* For qsort() and bsearch(): by time, of one time by name. */
int called_lines_compare(const void *left, const void *right);

/* The call of that name at that moment, of `count` in the order of time, or
 * NULL; `next`: where the search goes on, as moments come in their order. */
const struct called_line *called_line_at(const struct called_line *list,
					 size_t count, size_t *next, int64_t ns,
					 uint32_t name);
void called_lines_free(struct called_lines *called);

static inline const char *called_lines_text(const struct called_lines *called,
					    uint32_t line)
{
	return key_table_key(&called->lines, line, NULL);
}

#endif
