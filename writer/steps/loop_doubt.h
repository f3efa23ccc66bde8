/* SPDX-License-Identifier: MIT */
/*
 * loop_doubt.h - whether the level that loop_nest.c came to may yet lie within
 * another.
 */
#ifndef WRITER_LOOP_DOUBT_H
#define WRITER_LOOP_DOUBT_H

#include "writer/steps/loop_level.h"

/* Its marker falls out, or more sites come between its turns than in them: they
 * may be around it though not regularly.  How often the rarest of them came,
 * since the first turn. */
bool loop_is_doubtful(struct loop_groups *groups,
		      const struct loop_candidate *candidate, size_t *seldom);

#endif
