/* SPDX-License-Identifier: MIT */
/*
 * loop_around.h - for loop_nest.c: a loop around the level that it came to, of
 * which the turns don't tell since it turns that one as often as it needs: a
 * time step's around a solver's iterations.  The code does.
 */
#ifndef WRITER_LOOP_AROUND_H
#define WRITER_LOOP_AROUND_H

#include "writer/loops/loop_level.h"

enum loop_around {
	AROUND_NONE,
	AROUND_DOUBT, /* it adds little: an epoch, perhaps, or a report */
	AROUND_FOUND
};

/* The nearest one.  `is_around`: the level was found so itself, and what always
 * turns it a few times counts, too.  `groups` are those without context then.
 */
enum loop_around loop_around_find(struct loop_groups *groups,
				  struct loop_scratch *scratch,
				  const struct loop_candidate *step,
				  bool is_around,
				  struct loop_candidate *around);

#endif
