/* SPDX-License-Identifier: MIT */
/*
 * loop_within.h - how often one site comes in each turn of a level that another
 * stream of the same thread has.
 */
#ifndef WRITER_LOOP_WITHIN_H
#define WRITER_LOOP_WITHIN_H

#include "writer/loops/loop.h"

struct loop_within {
	size_t every;	  /* hits in most turns; 0: in no two as many */
	size_t usual;	  /* turns with so many, */
	size_t turns;	  /* ... of so many: from one hit to the next */
	size_t lead;	  /* turns without it before the first that has it */
	bool is_in_first; /* the first of them has some */
	uint64_t last;	  /* ticks of the first usual turn's last hit */
};

/* Of the marks that had ended by `until`; the turns are those between the
 * level's first hit and its last. */
struct loop_within loop_within(const struct loop_mark *marks,
			       const struct loop_level *level,
			       const struct loop_mark *others, size_t count,
			       uint64_t id, uint64_t until);

/* The site comes equally often in nearly all turns. */
bool loop_within_is_regular(const struct loop_within *within);

#endif
