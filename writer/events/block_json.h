/* SPDX-License-Identifier: MIT */
/*
 * block_json.h - a block that the program got, or gave back.
 */
#ifndef WRITER_BLOCK_JSON_H
#define WRITER_BLOCK_JSON_H

#include "collector/session/event.h"
#include "writer/state/writer_state.h"

/* Do events of blocks say how long the call took? */
static inline bool blocks_are_timed(const struct writer_state *state)
{
	const struct options *options = &state->session->head->options;

	return options->malloc == MALLOC_ALL && options->malloc_duration;
}

/* The args, to the end of the line. */
void block_json(struct writer_state *state, const struct event *event,
		bool has_total);

/* Does it say what the heap holds?  Not where its reader, who adds up the
 * bytes, knows that; but each sixteenth time, and at each peak, for the viewers
 * that draw what they are told.  To be asked once for each block. */
bool block_has_total(struct writer_state *state, const struct event *event);

/* Into an object of the metadata with some pair: which blocks are there. */
void block_json_drawn(struct json *json, const struct writer_state *state);

#endif
