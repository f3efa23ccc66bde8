/* SPDX-License-Identifier: MIT */
/*
 * loop_gain.h - two levels side by side, for loop_nest.c: what one that turns
 * less often has, and the one that turns more often has not.
 */
#ifndef WRITER_LOOP_GAIN_H
#define WRITER_LOOP_GAIN_H

#include "writer/loops/loop_copy.h"

/* What a step has more than a report: turns, and of all marks so many at sites
 * of each turn. */
#define GAIN_MANY_TURNS 15u
#define GAIN_RICH_MASS	0.98
/* Few: sites, and inner turns to an outer one. */
#define GAIN_FEW_SITES	2u
#define GAIN_FEW_WITHIN 12.5

/* What tells whether a level is more of a step than the one within. */
struct gain {
	size_t sites;	   /* that it holds and the inner one doesn't */
	size_t lost;	   /* that only the inner one holds */
	size_t again;	   /* sites of the inner one that come more often where
			     the outer one's marker does */
	double ratio;	   /* inner turns to an outer one, on average */
	size_t usual;	   /* ... of whole outer ones */
	bool is_constant;  /* nearly always as many */
	bool is_single;	   /* mostly one; at times many more: an evaluation, */
	bool is_once;	   /* ... but hardly ever */
	bool is_pass;	   /* inner turns without an outer one are shorter: an
			     evaluation's, a validation's */
	bool is_less;	   /* ... and those with one, than most turns are */
	bool is_late;	   /* inner turns without an outer one all come first */
	bool is_full;	   /* the run has whole outer turns alone, */
	bool is_whole;	   /* ... from the first turn to the last */
	bool is_besides;   /* by the code all those sites come in some turns, or
			      by what is around them, or all is copied */
	bool is_between;   /* ... told by what begins the next one: so many
			      inner turns before the first, behind the last */
	bool is_bracketed; /* some of those sites come before the first inner
			      turn alone, and some behind the last alone */
	enum loop_copy copy; /* all that it has more ends with one */
	bool is_outside;     /* by the code one of those sites, once in a turn,
			        lies in fewer loops than the inner marker, and
			        comes in each turn of its own */
	bool is_seldom;	     /* some of the turns with an outer hit have more,
			        an evaluation; most are as all others */
	bool is_cut; /* the marks end within an inner turn: the last outer
			     one may be whole but for that */
};

struct gain loop_gain(const struct loop_groups *groups,
		      struct loop_scratch *scratch,
		      const struct loop_candidate *inner,
		      const struct loop_candidate *outer);

/* A number of turns that people choose from one report to the next. */
bool gain_is_round(size_t turns);

/* Nothing tells classes of a step from steps between two reports, where the
 * steps are rich and a little comes between them. */
bool gain_is_undecided(const struct gain *gain, const struct loop_level *inner,
		       const struct loop_level *outer);

/* After so many turns a little comes that they have, too, to the end: what is
 * done once in a step (weights are moved by what 12 networks gave), or a text
 * after 12 batches. */
bool gain_is_a_little(const struct gain *gain, const struct loop_level *inner,
		      const struct loop_level *outer);

/* Every so many turns, to the end, one is shorter and has something of its own.
 * That's no report: either the loop's body has turns of two kinds (a critic's,
 * and what it judges), or each turn is a step, and some go another way (a
 * codec's whole pictures).
 * Nor is it where a few of them have an evaluation besides: batches of which a
 * few are added up in a step. */
bool gain_is_other_way(const struct gain *gain);

/* Where each turn is as long as the others, nothing tells a report after so
 * many of them from what a step does once, unless it is much, or after a number
 * that few would choose. */
bool gain_may_be_report(const struct gain *gain, const struct loop_level *inner,
			const struct loop_level *outer);

/* After a few turns of very many sites more comes than such a turn has, and it
 * has sites of its own: an evaluation, or what else a geometry's energy takes
 * whose field was found in those turns. */
bool gain_is_as_rich(const struct gain *gain, const struct loop_level *inner,
		     const struct loop_level *outer);

/* A few turns around an inner loop that turns as often as it needs. */
bool gain_is_uneven(const struct gain *gain, const struct loop_level *outer);

#endif
