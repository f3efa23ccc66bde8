/* SPDX-License-Identifier: MIT */
/*
 * map_json.h - memory that the program got from the kernel, or gave back.
 */
#ifndef WRITER_MAP_JSON_H
#define WRITER_MAP_JSON_H

#include "collector/session/event.h"
#include "writer/state/writer_state.h"

/* The args, from the opening brace to the end of the line. */
void map_json(struct writer_state *state, const struct event *event);

#endif
