/* SPDX-License-Identifier: MIT */
/*
 * loop_midst.h - does a level's body do at times what another one holds?
 *
 * What is around a loop comes between two of its turns, in one place.  What
 * comes in several places of a turn that is whole but for that, is done by
 * that turn: atoms that are sorted each ten time steps, before the forces and
 * behind them.
 */
#ifndef WRITER_LOOP_MIDST_H
#define WRITER_LOOP_MIDST_H

#include "writer/loops/loop_level.h"

bool loop_is_in_midst(const struct loop_groups *groups,
		      const struct loop_candidate *inner,
		      const struct loop_candidate *outer);

/* All that `outer` has more comes in turns of `inner` that are like the others,
 * which have another of the levels in their midst instead: two branches. */
bool loop_has_branches(const struct loop_groups *groups,
		       const struct loop_candidate *levels, size_t count,
		       const struct loop_candidate *inner,
		       const struct loop_candidate *outer);

#endif
