/* SPDX-License-Identifier: MIT */
/*
 * loop_graphs.h - launches of CUDA graphs, told apart by what is in them.
 *
 * All are one call, whichever graph is launched.  A mark's `caller` says which
 * it was, by its kernels' names in any order: so a graph that is made anew is
 * the same, and which number it has says nothing.
 *
 * A step may launch several in turn.  But one of several in each, by the size
 * of what it is given, looks the same to the calls alone: so graphs count where
 * nothing else comes between the turns that they tell of.
 */
#ifndef WRITER_LOOP_GRAPHS_H
#define WRITER_LOOP_GRAPHS_H

#include "writer/loops/loop.h"

struct loop_nest;

/* Which graph, as a number; 0 unknown. */
uint16_t loop_graphs_add(uint16_t graph, const char *kernel);

/* A call's site with what tells graphs apart, or again without. */
static inline uint64_t loop_graphs_id(const struct loop_mark *mark)
{
	return mark->is_graph ? mark->id ^ (uint64_t)mark->caller << 40
			      : mark->id;
}

/* Launches of several graphs are among the marks. */
bool loop_graphs_are_told(const struct loop_mark *marks, size_t count);

/* What the calls alone tell (`calls`, NULL nothing), beside what the graphs
 * tell, too (`graphs`). */
enum loop_graphs {
	GRAPHS_SAME,  /* what the calls tell, or nothing */
	GRAPHS_OTHER, /* the graphs' is the step */
	GRAPHS_DOUBT  /* either */
};

enum loop_graphs loop_graphs_compare(const struct loop_nest *calls,
				     const struct loop_nest *graphs);

#endif
