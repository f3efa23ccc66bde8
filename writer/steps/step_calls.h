/* SPDX-License-Identifier: MIT */
/*
 * step_calls.h - launches among marks, and the kernels that they launched.
 *
 * A call and its kernel are two records, which come in any order; what joins
 * them is the correlation, whose lower half a call's mark keeps in its note
 * beside the name.  Of one thread the later call has the higher one.  Until
 * both must have come the mark is not looked at.
 */
#ifndef WRITER_STEP_CALLS_H
#define WRITER_STEP_CALLS_H

#include "writer/steps/step_marks.h"

struct graph_work {
	uint32_t correlation;
	uint16_t graph; /* loop_graphs_add() of the kernels that came */
};

struct step_calls {
	struct graph_work *graphs; /* the same of launches of graphs */
	uint64_t *kernels;	   /* that came before their calls: name and
			      correlation; NULL: no call is looked at */
};

/* Takes its memory from the arena, once; without it, no call is a mark. */
void step_calls_start(struct step_calls *calls, struct arena *arena);

/* The mark of a call that put work on a GPU.  False: it is none. */
bool step_calls_read(const struct step_calls *calls,
		     const struct session *session, const struct event *event,
		     struct loop_mark *mark);

/* A kernel that is no node of a graph: its call's mark among those becomes the
 * kernel's, or it is remembered.  False: it isn't there. */
bool step_calls_name(const struct session *session, struct step_marks *marks,
		     const struct event *kernel);
void step_calls_keep(struct step_calls *calls, const struct event *kernel);

/* A graph's kernel likewise: the mark's `caller` says of which graph. */
bool step_calls_name_graph(const struct session *session,
			   struct step_marks *marks,
			   const struct event *kernel);
void step_calls_keep_graph(struct step_calls *calls,
			   const struct session *session,
			   const struct event *kernel);

/* The place of the mark of a call; the count where it is none. */
size_t step_calls_find(const struct step_marks *marks, uint64_t correlation);

/* Its name as traces have it. */
void step_calls_text(const struct session *session,
		     const struct loop_mark *mark, char *text, size_t bytes);

/* 'kernel "update(float*)"', 'CUDA call cudaGraphLaunch'. */
void step_calls_describe(const struct session *session,
			 const struct loop_mark *mark, char *text,
			 size_t bytes);

#endif
