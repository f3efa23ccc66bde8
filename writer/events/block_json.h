/* SPDX-License-Identifier: MIT */
/*
 * block_json.h - a block that the program got, or gave back.
 */
#ifndef WRITER_BLOCK_JSON_H
#define WRITER_BLOCK_JSON_H

#include "collector/session/event.h"
#include "writer/state/writer_state.h"

/* The args, to the end of the line. */
void block_json(struct writer_state *state, const struct event *event);

#endif
