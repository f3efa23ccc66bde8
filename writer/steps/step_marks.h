/* SPDX-License-Identifier: MIT */
/*
 * step_marks.h - one thread's regions, its ranges or its calls of CUDA, as
 * marks for loop_nest_find(), in the order of their beginnings; and the steps
 * that a level of the nest cuts them into.
 *
 * Step 0 begins with the first turn, step k with the first mark after the hit
 * that ended turn k - 1.
 */
#ifndef WRITER_STEP_MARKS_H
#define WRITER_STEP_MARKS_H

#include "collector/control/search.h"
#include "writer/loops/loop_certain.h"
#include "writer/state/writer_state.h"

#define STEP_MARKS_MAX	 262144u
#define STEP_STREAMS_MAX 16u
#define STEP_LOOKS_MAX	 64u

/* A look that is due at as many marks as these, when the last of them came. */
struct step_look {
	size_t count;
	uint64_t ticks;
};

struct step_marks {
	struct ring_reader *reader;
	uint32_t tid;
	uint32_t family; /* enum search_family */
	uint64_t code;	 /* barriers: what names their region, 0 unknown */
	struct array marks;
	size_t count;
	size_t outer;	  /* regions in no team, as far as they are counted */
	size_t step_like; /* ranges that are called so, all that ever came */
	size_t next_look; /* count from which on to look again */
	struct step_look look[STEP_LOOKS_MAX]; /* those that are due, */
	size_t looks;			       /* ... oldest first */
	bool is_found;			       /* by the last look */
	bool is_by_caller;  /* its ids tell where regions were called from, or
			      which graph was launched */
	bool tells_graphs;  /* ... and may */
	bool has_jit;	    /* calls of jax.jit's functions are among them */
	bool comes_in_time; /* not all are XLA's, which nobody hears of before
			       they are handed over */
	bool is_settled;    /* its step is known: none is taken out again */
	struct loop_choice choice;
};

static inline struct loop_mark *step_marks(const struct step_marks *marks)
{
	return marks->marks.base;
}

/* The mark of a region or a range.  False: it is none. */
bool step_marks_read(const struct session *session, const struct event *event,
		     uint32_t *family, struct loop_mark *mark);

/* Puts a mark in its place: events come by their ends, what was around others
 * after them.  The place, or the count where there is no memory. */
size_t step_marks_add(struct step_marks *marks, const struct loop_mark *mark);

/* Forgets those that are in a team. */
void step_marks_leave_teams(struct step_marks *marks);

/* Forgets the oldest. */
void step_marks_drop(struct step_marks *marks, size_t count);

/* Marks that began before `ticks`; and that had come by then. */
size_t step_marks_before(const struct step_marks *marks, uint64_t ticks);
size_t step_marks_came(const struct step_marks *marks, uint64_t ticks);

/* The next look, where all is here that came before `until`; looks are due at
 * counts that don't depend on when we come by.  `ready`: marks to which nothing
 * is to come any more. */
bool step_marks_due(const struct step_marks *marks, size_t ready,
		    uint64_t until, struct step_look *look);
void step_marks_looked(struct step_marks *marks);

/* The stream of a thread's marks of one family; of STEP_STREAMS_MAX a new one
 * where there is none yet, of which the main thread's always find a place.
 * NULL: there are too many. */
struct step_marks *step_marks_of(struct step_marks *streams, size_t *count,
				 struct ring_reader *reader, uint32_t tid,
				 uint32_t family, uint32_t main_tid);

/* Marks of the largest. */
size_t step_marks_most(const struct step_marks *streams, size_t count);

/* Of two streams, with so many marks: the main thread's goes before others, and
 * a larger one before a smaller one. */
bool step_marks_before_other(const struct step_marks *a, size_t count_a,
			     const struct step_marks *b, size_t count_b,
			     uint32_t main_tid);

/* Of several streams where to look next.  NULL: all were looked at. */
struct step_marks *step_marks_next(struct step_marks *streams, size_t count,
				   uint32_t main_tid, uint32_t *looked);

/* A level's hits that began before; where the last of them is. */
uint64_t step_marks_hits(const struct step_marks *marks,
			 const struct loop_level *level, uint64_t ticks,
			 size_t *last);

/* From now on sites are told apart by where they were called from, or no more.
 */
void step_marks_tell_callers(struct step_marks *marks);

/* loop_nest_find() over the first `count` of them; and over those that had come
 * at a look.  Where the regions alone tell nothing, they are told apart by
 * where they were called from, and stay so if that tells. */
int step_marks_find(struct step_marks *marks, size_t count,
		    struct loop_nest *nest);
int step_marks_find_at(struct step_marks *marks, const struct step_look *look,
		       struct loop_nest *nest);

/* All hits of a mark's site as turns that end with it. */
void step_marks_find_site(const struct step_marks *marks, size_t at,
			  struct loop_level *found);

/* The level that a person named: true where a turn of it has come. */
bool step_marks_find_wanted(const struct step_marks *marks,
			    const struct search_wanted *wanted,
			    struct naming *naming, struct loop_level *found);

/* The level that was found before the program was killed. */
bool step_marks_find_told(struct step_marks *marks,
			  const struct step_search *told,
			  struct loop_level *found);

/* Whether the same mark is there already. */
bool step_marks_has(const struct step_marks *marks,
		    const struct loop_mark *mark);

/* A way through the steps of a level. */
struct step_turns {
	size_t at;	  /* the next mark to look at */
	uint64_t begun;	  /* steps */
	uint64_t ticks;	  /* when the last of them begins */
	uint64_t divisor; /* hits to a step */
	uint64_t hits;
};

/* The mark that the next step begins with; false: it isn't among the first
 * `count`. */
bool step_turns_next(const struct step_marks *marks,
		     const struct loop_level *level, size_t count,
		     struct step_turns *turns, size_t *begin);

/* Hits to a turn. */
static inline uint64_t step_level_every(const struct loop_level *level)
{
	return level->every ? level->every : 1;
}

/* When the turn that ends with a hit is over. */
uint64_t step_marks_end(const struct step_marks *marks,
			const struct loop_level *level, size_t hit);

/* 'omp region "update"', for one line; and what sets TRACEPROF_STEP to it,
 * empty where nothing does. */
void step_marks_describe(const struct step_marks *marks, size_t at,
			 struct naming *naming, char *text, size_t bytes);

/* By which a site is told in a trace; several of one body have the same. */
void step_marks_trace_name(const struct step_marks *marks, size_t at,
			   struct naming *naming, char *text, size_t bytes);

void step_marks_setting(const struct step_marks *marks,
			const struct loop_level *level, struct naming *naming,
			char *text, size_t bytes);

/* Of the sites only those that are known first are counted. */
#define STEP_SITES_COUNTED 64u

/* The sites that came most often, as levels of their own; how many those are.
 */
size_t step_marks_frequent(const struct step_marks *marks,
			   struct loop_level *found, size_t most);

#endif
