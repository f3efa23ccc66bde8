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
 * It refuses rather than guesses: what has no loop, or two answers, gives
 * -ENOENT.
 */
#ifndef WRITER_LOOP_NEST_H
#define WRITER_LOOP_NEST_H

#include "collector/control/search.h"

#define LOOP_LEVELS_MAX 8u
/* Hits of a marker that can be told to be one. */
#define LOOP_HITS_LEAST 5u

struct loop_mark {
	uint64_t id;	/* of the site, any number */
	uint64_t ticks; /* when it was hit; never less than the one before */
	uint64_t end_ticks;
	uint64_t note; /* the caller's own */
};

struct loop_level {
	uint64_t id;	      /* the marker's site, */
	unsigned int context; /* the sites before it that belong to it, */
	uint64_t key;	      /* and both: search_key() */
	uint64_t next;	      /* the site that a turn mostly begins with */
	size_t begin;	      /* first mark of the first turn, as index */
	size_t first;	      /* the first turn's hit */
	size_t last;	      /* the last turn's hit */
	size_t turns;	      /* as many as hits */
	size_t length;	      /* of a turn, the median, in marks */
	uint64_t ticks;	      /* ... and in time */
	size_t marks;	      /* in all turns */
	bool is_begin;	      /* a hit begins its turn, it doesn't end it */
	size_t held;	      /* sites that it holds */
	size_t missing;	      /* turns without one of those, added up */
	double mass; /* share of the marks that are at sites it holds */
};

struct loop_nest {
	struct loop_level level[LOOP_LEVELS_MAX]; /* innermost first */
	size_t count;
	size_t step;	   /* the level that is the step */
	size_t runner_up;  /* the one that it might be, `count` none */
	bool is_ambiguous; /* neither is certain enough: there is no step */
	size_t outer;	   /* turns of the loop around the step, 0 none seen */
};

/* Working memory that loop_nest_find() needs for so many marks, in bytes. */
size_t loop_nest_room(size_t count);

/* Finds the levels.  `room` holds loop_nest_room(count) bytes, aligned to 64,
 * of any content.  0; -ENOENT there is no step, or it isn't certain: then the
 * nest says what is known. */
int loop_nest_find(const struct loop_mark *marks, size_t count, void *room,
		   struct loop_nest *nest);

/* Whether a mark is a level's hit. */
bool loop_level_is_hit(const struct loop_level *level,
		       const struct loop_mark *marks, size_t at);

/* Where the turn begins that ends with a hit: of what may be its first mark,
 * from `least` on, the one that makes it as long as most turns are. */
size_t loop_level_begin(const struct loop_level *level,
			const struct loop_mark *marks, size_t hit,
			size_t least);

#endif
