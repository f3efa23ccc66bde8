/* SPDX-License-Identifier: MIT */
/*
 * loop.h - marks, and the levels of loops that are read out of them; what the
 * words mean stands in loop_nest.h.
 */
#ifndef WRITER_LOOP_H
#define WRITER_LOOP_H

#include "collector/control/search.h"

/* Hits of a marker that can be told to be one. */
#define LOOP_HITS_LEAST 5u

struct loop_mark {
	uint64_t id;	/* of the site, any number */
	uint64_t ticks; /* when it was hit; never less than the one before */
	uint64_t end_ticks;
	uint64_t note;	       /* for those who keep marks; but of a region its
				upper half says how far from its site the
				function is that the compiler outlined */
	uint8_t team : 2;      /* a region's: 1, or 2 and more; 0 unknown */
	bool is_late : 1;      /* most others weren't asked then where they
				  were called from */
	bool is_needed : 1;    /* by the code, nothing counts the turns of the
				  innermost loop around it */
	bool is_in_team : 1;   /* begun by a member of a team of several */
	bool is_step_like : 1; /* a range that is called so */
	bool is_copy : 1;      /* a call that copies, and is no memset */
	bool is_graph : 1;     /* a call that launches a graph: `caller` says
				  which */
	uint8_t turn : 2;      /* enum search_turn */
	bool is_jit : 1;       /* a range: a function of jax.jit is called */
	bool is_always : 1;    /* by the code, in each turn of that loop */
	uint16_t caller;       /* where it was called from, 0 unknown; */
	uint16_t loop;	/* ... the innermost loop around that, 0 unknown, */
	uint8_t within; /* ... the one around that, 0 none, or unknown, */
	uint8_t depth;	/* ... how many there are, and 1; 0 unknown */
};

/* What a region runs: copies of its call have the same.  Its site where that
 * isn't known, and of all others. */
static inline uint64_t loop_mark_function(const struct loop_mark *mark)
{
	return search_region_code(mark->id) +
	       (uint64_t)(int32_t)(mark->note >> 32);
}

/* What lies in a team is forgotten; how many are left. */
static inline size_t loop_leave_teams(struct loop_mark *marks, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!marks[i].is_in_team)
			marks[kept++] = marks[i];
	}
	return kept;
}

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
	bool is_end;	      /* its turn is over when the hit is, no later */
	uint64_t begin_ticks; /* then: when the first turn began */
	size_t every;	      /* hits to a turn; 0 as 1 */
	size_t held;	      /* sites that it holds */
	size_t missing;	      /* turns without one of those, added up */
	size_t missed;	      /* turns that are two: the marker fell out */
	double mass; /* share of the marks that are at sites it holds */
};

/* With the sites before it, of a mark at the level's site. */
bool loop_level_is_in_context(const struct loop_level *level,
			      const struct loop_mark *marks, size_t at);

/* Whether a mark is a level's hit.  Asked of each mark for each pair of levels:
 * most are at other sites, and most levels have no context. */
static inline bool loop_level_is_hit(const struct loop_level *level,
				     const struct loop_mark *marks, size_t at)
{
	return marks[at].id == level->id &&
	       (!level->context || loop_level_is_in_context(level, marks, at));
}

/* The site that comes right after most hits. */
uint64_t loop_level_next(const struct loop_mark *marks,
			 const struct loop_level *level);

/* From one hit to the next, in time: the median, or where they are many that of
 * some.  Of two turns or more. */
uint64_t loop_level_period(const struct loop_level *level,
			   const struct loop_mark *marks);

/* Where the turn begins that ends with a hit: of what may be its first mark,
 * from `least` on, the one that makes it as long as most turns are. */
size_t loop_level_begin(const struct loop_level *level,
			const struct loop_mark *marks, size_t hit,
			size_t least);

#endif
