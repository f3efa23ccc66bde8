/* SPDX-License-Identifier: MIT */
/* wait_place.c - the frames of a wait's stack; see wait_place.h. */
#include "tools/model/wait_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/run_timeline.h"
#include "tools/util/numbers.h"

#define FRAME_BYTES 256

enum frame_kind { FRAME_OTHER, FRAME_NATIVE, FRAME_PYTHON };

/* "libc.so.6(0x27249): main" or "train.py(20): step". */
static enum frame_kind kind_of(const char *frame)
{
	const char *address = strstr(frame, "(0x");
	const char *name = address ? strstr(address, "): ") : NULL;

	if (!name)
		return !strncmp(frame, "<frozen", 7) ||
				       strstr(frame, "/site-packages/") ||
				       strstr(frame, "/dist-packages/") ||
				       strstr(frame, "/lib/python") ||
				       !strstr(frame, "): ")
			       ? FRAME_OTHER
			       : FRAME_PYTHON;
	return timeline_is_runtime(frame) || timeline_is_runtime(name + 3) ||
			       strstr(name + 3, "+0x")
		       ? FRAME_OTHER
		       : FRAME_NATIVE;
}

/* Of CPython's own code nobody wants to know where lines of Python are.  Those
 * of imports are no place, but they say what it is. */
void wait_place_of(struct text_buffer *text, const char *stack, size_t len)
{
	char native[FRAME_BYTES] = "";
	bool is_import = false, is_pythons = false;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(stack + at, ';', len - at);
		const size_t bytes =
			end ? (size_t)(end - stack) - at : len - at;
		char frame[FRAME_BYTES];

		snprintf(frame, sizeof(frame), "%.*s", (int)bytes, stack + at);
		at += bytes + 1;
		switch (kind_of(frame)) {
		case FRAME_PYTHON:
			text_buffer_format(text, "%s", frame);
			return;
		case FRAME_NATIVE:
			if (native[0])
				break;
			strcpy(native, strstr(frame, "): ") + 3);
			is_pythons = !strncmp(frame, "python3", 7) ||
				     !strncmp(frame, "libpython", 9);
			break;
		default:
			is_import |= !strncmp(frame, "<frozen importlib", 17);
			break;
		}
	}
	text_buffer_format(text, "%s",
			   is_import && is_pythons ? "Python's imports"
						   : native);
}

const char *wait_places_event(struct wait_places *places,
			      const struct trace_event *event)
{
	const struct trace_value number = trace_event_arg(event, "stack");
	const struct trace_value stack = trace_event_arg(event, "Call stack");
	struct text_buffer text = {0};
	uint32_t row;
	char **place;

	if (number.type != TRACE_NUMBER)
		return "";
	places->stacks.row_bytes = sizeof(*place);
	row = key_table_number(&places->stacks, number.text, number.len);
	place = key_table_row(&places->stacks, row);
	if (!*place && stack.type == TRACE_STRING && stack.len) {
		text_buffer_cut(&text, 0);
		wait_place_of(&text, stack.text, stack.len);
		*place = text.data;
	}
	return *place ? *place : "";
}

void wait_places_free(struct wait_places *places)
{
	for (uint32_t at = 0; at < places->stacks.count; at++)
		free(*(char **)key_table_row(&places->stacks, at));
	key_table_free(&places->stacks);
}
