/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - each distinct call stack once in the session, known by a small id.
 *
 * A stack is the return addresses of its frames, innermost first; the module
 * list says later what they are.  The table is filled by compare-and-swap and
 * bounded.  Of stacks that come when three quarters are full only who they are
 * of is kept (STACK_SHORT), so that a few places for each are enough; what
 * doesn't fit even so is refused.  Both are counted.  Any thread;
 * async-signal-safe; no malloc.
 */
#ifndef COLLECTOR_STACKS_H
#define COLLECTOR_STACKS_H

#include "collector/session/session.h"

/* A frame with this bit is no address but a name: its id (names.h) has the
 * text "file(line): function" of an interpreter's function. */
#define STACK_NAMED (UINT64_C(1) << 63)

/* Of a stack that is shortened: so many frames from the innermost on, and as
 * many from the innermost that has a name on. */
#define STACK_SHORT 3u

struct stack {
	uint32_t hash;
	uint32_t count;
	uint64_t frame[];
};

/* Makes the table; once, before any stack is put. */
void stacks_start(struct session *session);

/* The id of a stack of 1 to STACK_DEPTH_MAX frames; 0 and counted where there
 * is no room for it. */
uint32_t stacks_put(struct session *session, const uint64_t *frames,
		    uint32_t count);

/* The stack of an id; NULL none, or damaged. */
const struct stack *stacks_find(const struct session *session, uint32_t id);

#endif
