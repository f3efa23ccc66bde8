/* SPDX-License-Identifier: MIT */
/*
 * stack_json.h - an event's call stack, as args of its line.
 *
 * "stack" is a number; where it comes for the first time in a file, "Call
 * stack" follows and says what it is, as torch.profiler writes one: frames from
 * the innermost on, with ";" between, each "file(line): function".  Here the
 * file is a module and the line an address in it, which `traceprof symbolize`
 * and `traceprof memory` turn into the source's.
 */
#ifndef WRITER_STACK_JSON_H
#define WRITER_STACK_JSON_H

#include "writer/state/writer_state.h"

/* `,"stack":N` and what belongs to it. */
void stack_json(struct writer_state *state, uint32_t id);

/* The modules that addresses lie in, with their build-ids: `,"modules":[...]`;
 * nothing where no stack was taken.  Then what became of stacks. */
void stack_json_modules(const struct writer_state *state, struct json *json);

#endif
