/* SPDX-License-Identifier: MIT */
/*
 * loop_doubt.h - whether the level that loop_nest.c came to may yet lie within
 * another.
 */
#ifndef WRITER_LOOP_DOUBT_H
#define WRITER_LOOP_DOUBT_H

#include "writer/loops/loop_level.h"

/* Only what comes before it makes its site a marker, of short turns, and no
 * other site's turns are as many: they come so by chance, in what turns as
 * often as it needs.  Or some turns of another level that are as long as all
 * lack it. */
bool loop_is_lonely(const struct loop_groups *groups,
		    const struct loop_candidate *levels, size_t count,
		    const struct loop_candidate *step);

/* Its marker falls out, or more sites come between its turns than in them: they
 * may be around it though not regularly.  How often the rarest of them came,
 * since the first turn. */
bool loop_is_doubtful(struct loop_groups *groups,
		      const struct loop_candidate *candidate, size_t *seldom);

/* Whether one of these holds:
 *
 *	All that the level holds goes on before its first turn or after its
 *	last, as long as some turns: what is told of it is but a part.  So it is
 *	where that goes on for longer than all turns, however often each comes.
 *
 *	A loop of less than five turns is around it: nearly as many sites as it
 *	holds come so often, some from before its first turn on, others until
 *	behind its last.
 *
 *	One site comes more often behind its few turns.
 *
 *	The run is nothing but turns that are one region of each site, some of
 *	which again and again have a team of one member: a loop over what is
 *	large and small, levels of an index, with an outer one that has no
 *	region of its own.  Or nothing but thousands of turns of a region or
 *	two.
 *
 *	The run is nothing but one region, from several places, and the code
 *	says that their loop lies in another: two sweeps to and fro, of twelve
 *	in a time step.
 *
 *	A turn is one site so many times, and another once: a report after as
 *	many turns as people choose, or a few after many. */
bool loop_is_part(const struct loop_groups *groups,
		  const struct loop_candidate *candidate);

/* Of `count` levels of other phases the one that is around what is the step of
 * this one, or that turns more often than its few times, or that comes between
 * its turns, too; NULL none. */
const struct loop_candidate *loop_elsewhere(const struct loop_groups *groups,
					    const struct loop_candidate *others,
					    size_t count,
					    const struct loop_candidate *step);

#endif
