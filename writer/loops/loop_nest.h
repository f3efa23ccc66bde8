/* SPDX-License-Identifier: MIT */
/*
 * loop_nest.h - finds the step of a program in the loops that its marks tell
 * of.
 *
 * One pure function over the marks of one thread, in the order in which they
 * came: which call site was hit.  Times are told, never asked for: the same
 * marks give the same step on any machine at any load.
 *
 * A *level* of the nest is a loop that comes again and again and holds most of
 * what lies between its first and its last turn.  It is told by a marker that
 * comes once in each turn: a site, or a site together with those hit right
 * before it, its *context*.  A level *holds* a site that comes in nearly every
 * turn.
 *
 * The step is the outermost level that gains something: sites that come between
 * the runs of the level within (embedding, loss and optimiser between layers).
 * What repeats only the inner level's sites (an evaluation), or adds a little
 * after many turns (an epoch, a report each 50 time steps), is no step.
 *
 * It refuses rather than guesses: -ENOENT.
 */
#ifndef WRITER_LOOP_NEST_H
#define WRITER_LOOP_NEST_H

#include "writer/loops/loop.h"

#define LOOP_LEVELS_MAX 8u

struct loop_nest {
	struct loop_level level[LOOP_LEVELS_MAX]; /* most turns first */
	size_t count;
	size_t step;	  /* of them */
	size_t runner_up; /* the one that it might be, `count` none */
	bool is_open;	  /* another level is the step if the run ends with a
			     whole turn of it */
	size_t outer;	  /* turns of the loop around the step, 0 none seen */
	size_t seldom;	  /* of the sites that the step doesn't hold, since its
			     first turn: how often the rarest came, 0 none */
};

/* Working memory that loop_nest_find() needs for so many marks, in bytes. */
size_t loop_nest_room(size_t count);

/* Finds the levels.  `room` holds loop_nest_room(count) bytes, aligned to 64,
 * of any content.  0; -ENOENT there is no step, or it isn't certain: then the
 * nest says what is known. */
int loop_nest_find(const struct loop_mark *marks, size_t count, void *room,
		   struct loop_nest *nest);

/* The same, but what else the run does is not looked at. */
int loop_nest_find_part(const struct loop_mark *marks, size_t count, void *room,
			struct loop_nest *nest);

#endif
