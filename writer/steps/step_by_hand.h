/* SPDX-License-Identifier: MIT */
/*
 * step_by_hand.h - a PyTorch training whose weights no optimizer of PyTorch's
 * moves: its steps, told by what is run backward and what is changed then.
 *
 * A mark is one run backward, from the end of the one before to the last change
 * in place that follows it.  Each that is followed by a change of all weights
 * is a step; where only each Nth is, N of them are.  It is decided when the run
 * is over, where nothing else tells.
 */
#ifndef WRITER_STEP_BY_HAND_H
#define WRITER_STEP_BY_HAND_H

#include "writer/steps/step_marks.h"

/* Changes in place that may lie in an operator that hasn't ended yet. */
#define BY_HAND_INSIDE 16u

/* What the main thread did in a phase, or in a round. */
struct by_hand_counts {
	size_t gradients; /* of weights, that were added up */
	size_t nodes;	  /* that were run backward */
	size_t changes;	  /* in place, of operators in no other */
	size_t operators; /* those that such changes lie among */
};

struct step_by_hand {
	struct step_marks marks;
	struct by_hand_counts phase, round;
	struct by_hand_inside {
		uint64_t start_ticks;
		uint64_t before_ticks; /* the end of the change before */
	} inside[BY_HAND_INSIDE];
	size_t inside_count;
	/* Of the first operator behind what was run backward, 0 none yet. */
	uint64_t sequence;
	uint64_t change_ticks; /* when the last change ended */
	uint64_t data_ticks;   /* when a phase of data began that came last */
	uint64_t begin_ticks;  /* of the round, 0 none yet, */
	uint64_t end_ticks;    /* ... and its end, as far as it is known */
	size_t all;	       /* operators: so far, */
	size_t phase_all;      /* ... when the phase began, */
	size_t first_all;      /* ... the first round, */
	size_t last_all;       /* ... and when the last backward ended */
	bool is_backward;      /* something was, in this round */
	bool has_optimizer, is_full; /* then there are no steps here */
};

/* One of the main thread's operators or phases, in the order of its ring. */
void step_by_hand_see(struct step_by_hand *hand, const struct session *session,
		      struct ring_reader *reader, const struct event *event);

/* How many steps they tell of; 0 none. */
size_t step_by_hand_steps(struct step_by_hand *hand,
			  const struct step_marks *streams, size_t count);

/* 0: they tell a step; -ENOENT. */
int step_by_hand_find(struct step_by_hand *hand,
		      const struct step_marks *streams, size_t count,
		      struct loop_nest *nest);

#endif
