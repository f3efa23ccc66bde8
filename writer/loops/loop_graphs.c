/* SPDX-License-Identifier: MIT */
/* loop_graphs.c - which graph was launched; see loop_graphs.h. */
#include "writer/loops/loop_graphs.h"

#include "writer/loops/loop_nest.h"

/* Of all marks so many are at sites of each turn: nothing else comes. */
#define ALL_MASS 0.98

uint16_t loop_graphs_add(uint16_t graph, const char *kernel)
{
	const uint64_t hash = search_kernel(kernel);

	return (uint16_t)(graph + (hash ^ hash >> 16 ^ hash >> 32));
}

bool loop_graphs_are_told(const struct loop_mark *marks, size_t count)
{
	uint16_t graph = 0;

	for (size_t i = 0; i < count; i++) {
		if (!marks[i].is_graph || !marks[i].caller)
			continue;
		if (graph && marks[i].caller != graph)
			return true;
		graph = marks[i].caller;
	}
	return false;
}

enum loop_graphs loop_graphs_compare(const struct loop_nest *calls,
				     const struct loop_nest *graphs)
{
	const struct loop_level *plain =
		calls ? &calls->level[calls->step] : NULL;
	const struct loop_level *told = &graphs->level[graphs->step];

	if (plain && told->turns + 2 + plain->turns / 32 >= plain->turns)
		return GRAPHS_SAME;
	if (told->mass >= ALL_MASS && !told->missing && !told->missed)
		return GRAPHS_OTHER;
	return plain ? GRAPHS_DOUBT : GRAPHS_SAME;
}
