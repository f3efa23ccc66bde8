/* SPDX-License-Identifier: MIT */
/* called_lines.c - collects them; see called_lines.h. */
#include "tools/model/called_lines.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

void called_lines_event(struct called_lines *called,
			const struct trace_event *event, uint32_t lane,
			uint32_t name)
{
	struct trace_value line = trace_event_arg(event, "called from");
	struct called_line call = {event->ts_ns, lane, name, 0, false};

	if (line.type != TRACE_STRING) {
		line = trace_event_arg(event, "called below");
		call.is_below = true;
	}
	if (line.type != TRACE_STRING || !line.len)
		return;
	call.line = key_table_number(&called->lines, line.text, line.len);
	called->list = memory_grow(called->list, called->count,
				   &called->capacity, sizeof(call));
	called->list[called->count++] = call;
}

int called_lines_compare(const void *left, const void *right)
{
	const struct called_line *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

const struct called_line *called_line_at(const struct called_line *list,
					 size_t count, size_t *next, int64_t ns,
					 uint32_t name)
{
	while (*next < count && list[*next].ns < ns)
		++*next;
	for (size_t at = *next; at < count && list[at].ns == ns; at++)
		if (list[at].name == name)
			return &list[at];
	return NULL;
}

void called_lines_free(struct called_lines *called)
{
	free(called->list);
	key_table_free(&called->lines);
	*called = (struct called_lines){.list = NULL};
}
