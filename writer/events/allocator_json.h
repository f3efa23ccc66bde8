/* SPDX-License-Identifier: MIT */
/*
 * allocator_json.h - a block that a caching allocator handed out or took back.
 */
#ifndef WRITER_ALLOCATOR_JSON_H
#define WRITER_ALLOCATOR_JSON_H

#include "collector/session/event.h"
#include "writer/state/writer_state.h"

/* The args, from the opening brace to the end of the line. */
void allocator_json(struct writer_state *state, const struct event *event);

#endif
