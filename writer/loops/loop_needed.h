/* SPDX-License-Identifier: MIT */
/*
 * loop_needed.h - for loop_nest.c: a level that turns for as long as what it
 * does says so, in a loop of the program's that has nothing of its own.
 *
 * A core of a graph is peeled in as many rounds as it takes: the code has the
 * rounds' regions in two loops, and nothing counts the inner one's turns.  A
 * step is what the outer one does, of which no mark tells; the batches of an
 * epoch are counted.
 */
#ifndef WRITER_LOOP_NEEDED_H
#define WRITER_LOOP_NEEDED_H

#include "writer/loops/loop_level.h"

bool loop_is_needed(const struct loop_groups *groups,
		    const struct loop_candidate *step);

#endif
