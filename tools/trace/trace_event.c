/* SPDX-License-Identifier: MIT */
/*
 * trace_event.c - looks at the parts of an event that was read.
 */
#include <string.h>

#include "tools/util/decimal.h"
#include "tools/trace/trace_reader.h"

struct trace_value trace_event_arg(const struct trace_event *event,
				   const char *key)
{
	for (size_t at = 0; at < event->pair_count; at++)
		if (strcmp(event->pairs[at].key, key) == 0)
			return event->pairs[at].value;
	return (struct trace_value){.type = TRACE_ABSENT, .text = ""};
}

bool trace_event_integer(const struct trace_event *event, const char *key,
			 int64_t *value)
{
	const struct trace_value found = trace_event_arg(event, key);

	return found.type == TRACE_NUMBER &&
	       decimal_to_integer(found.text, found.len, value) == 0;
}

bool trace_value_is(const struct trace_value *value, const char *text)
{
	return value->type == TRACE_STRING && strcmp(value->text, text) == 0;
}
