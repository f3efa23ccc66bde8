/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - each distinct call stack once in the session, known by a small id.
 *
 * A stack is the return addresses of its frames, innermost first; the module
 * list says later what they are.  The table is filled by compare-and-swap and
 * bounded.  Of stacks that come when eleven sixteenths are full only who they
 * are of is kept (STACK_SHORT), so that a few places for each are enough; from
 * thirteen on, of those with names their names alone, and from fifteen on the
 * innermost one.  What doesn't fit even so is refused.  All are counted.  Any
 * thread; async-signal-safe; no malloc.
 */
#ifndef COLLECTOR_STACKS_H
#define COLLECTOR_STACKS_H

#include "collector/session/session.h"

/* A frame with this bit is no address but an interpreter's function: the line
 * in it, and the id (names.h) of "file\0function".  So one name does for all
 * lines of a function. */
#define STACK_NAMED	 (UINT64_C(1) << 63)
#define STACK_LINE_AT	 32
#define STACK_LINE_MAX	 0xffffffu
#define STACK_NAME_BYTES 480u

/* Of a stack that is shortened: so many frames from the innermost on, and as
 * many from the innermost that has a name on. */
#define STACK_SHORT	 3u

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

/* One stack was taken in so much time.  A thread that loses its core meanwhile
 * takes thousands of times as long, of which no more counts than a stack may
 * take. */
void stacks_timed(struct session *session, uint64_t ticks);

static inline uint64_t stacks_named(uint32_t name, uint32_t line)
{
	return STACK_NAMED |
	       (uint64_t)min_u32(line, STACK_LINE_MAX) << STACK_LINE_AT | name;
}

/* "file(line): function" of a frame with a name, cut to STACK_NAME_BYTES; its
 * length. */
size_t stacks_name(const struct session *session, uint64_t frame, char *text);

/* The stack of an id; NULL none, or damaged. */
const struct stack *stacks_find(const struct session *session, uint32_t id);

#endif
