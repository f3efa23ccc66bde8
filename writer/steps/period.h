/* SPDX-License-Identifier: MIT */
/*
 * period.h - finds the step of a program in what it does over and over.
 *
 * One pure function over the marks of one thread: which call site was hit, and
 * when.  A step's marker is a site that comes once in each step; so what lies
 * between two of its hits is the same each time, counted by site.  Where no
 * site is hit just once in a step, a site together with those hit right before
 * it is: its *context*.
 *
 * Loops lie in each other.  The step is the innermost loop that holds two
 * thirds of the marks, unless that is so short, and so poor in sites, that
 * it must be a part of the next one (the layers of a network, the nodes of a
 * tree).  The loop around the step is told as the outer period.
 *
 * It refuses rather than guesses: what has no period gives -ENOENT.
 */
#ifndef WRITER_PERIOD_H
#define WRITER_PERIOD_H

#include "collector/control/search.h"

struct period_mark {
	uint64_t id;	/* of the site, any number */
	uint64_t ticks; /* when it was hit; never less than the one before */
	uint64_t note;	/* the caller's own */
};

struct period_needs {
	size_t repeats;	      /* steps that must have been seen */
	uint64_t span_ticks;  /* time that they must have taken */
	uint64_t short_ticks; /* a shorter step may be part of a longer one */
	bool is_over;	      /* the step need not be going on at the end */
};

struct period {
	uint64_t id;	      /* the marker's site */
	unsigned int context; /* sites before it that belong to it */
	uint64_t key;	      /* of both: search_key() */
	size_t first;	      /* the first step's mark, as index */
	size_t steps;	      /* hits from there on */
	uint64_t ticks;	      /* median length of a step */
	size_t outer;	      /* steps of the loop around it, 0 none seen */
};

/* Working memory that period_find() needs for so many marks, in bytes. */
size_t period_room(size_t count);

/* Finds the step.  `room` holds period_room(count) bytes, aligned to 64, of any
 * content.  0; -ENOENT there is no period, or it isn't certain. */
int period_find(const struct period_mark *marks, size_t count,
		const struct period_needs *needs, void *room,
		struct period *found);

#endif
