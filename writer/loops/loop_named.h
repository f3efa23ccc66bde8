/* SPDX-License-Identifier: MIT */
/*
 * loop_named.h - of a thread's ranges that are called like a step, the one that
 * is it: what lies within another one is a part of that, a microbatch in a
 * batch or a solver's iteration in a time step.
 */
#ifndef WRITER_LOOP_NAMED_H
#define WRITER_LOOP_NAMED_H

#include "writer/loops/loop.h"

/* Turns of it. */
#define LOOP_NAMED_TURNS 3u

/* `is_over`: nothing more comes, and of several the one is taken that goes on
 * for longest.  Else it is the one whose third turn was over first, and what
 * came within one that may yet turn is none. */
bool loop_named_find(const struct loop_mark *marks, size_t count, bool is_over,
		     struct loop_level *found);

#endif
