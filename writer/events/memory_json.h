/* SPDX-License-Identifier: MIT */
/*
 * memory_json.h - the args of a heap event.
 *
 * There may be millions of them in a second, each with six numbers, so they are
 * written in one go, with one look at the room that is left.
 */
#ifndef WRITER_MEMORY_JSON_H
#define WRITER_MEMORY_JSON_H

#include "writer/state/writer_state.h"

/* From the comma before "args" to the end of the line, to state->json. */
void memory_json_args(struct writer_state *state, const struct event *event);

#endif
