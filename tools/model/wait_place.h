/* SPDX-License-Identifier: MIT */
/*
 * wait_place.h - where a program waits, by the call stacks of its waits.
 *
 * A stack stands in a file once, with a number; later events have that alone.
 */
#ifndef TOOLS_WAIT_PLACE_H
#define TOOLS_WAIT_PLACE_H

#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"

struct wait_places {
	struct key_table stacks; /* by number: char *, the place */
};

/* The program's own function among those of that stack, which begins with the
 * innermost one: of Python its line, of native code what is no runtime's.
 * Nothing is added where all are others'. */
void wait_place_of(struct text_buffer *text, const char *stack, size_t len);

/* The place of a wait; "" not known.  Valid until the next call. */
const char *wait_places_event(struct wait_places *places,
			      const struct trace_event *event);

void wait_places_free(struct wait_places *places);

#endif
