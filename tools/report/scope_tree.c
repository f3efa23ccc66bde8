/* SPDX-License-Identifier: MIT */
/*
 * scope_tree.c - sorts each lane's slices, walks them with a stack, and merges
 * those of one path.
 */
#include "tools/report/scope_tree.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/saturate.h"

#define PRINTED_DEPTH 1000u

struct scope_span {
	int64_t start_ns, end_ns;
	uint32_t name;
	uint32_t node;
};

struct scope_lane {
	struct scope_span *spans;
	size_t count, capacity;
};

void scope_tree_add(struct scope_tree *tree, uint32_t lane, const char *name,
		    size_t name_len, int64_t start_ns, int64_t end_ns)
{
	struct scope_lane *at;

	if (lane >= tree->lane_count) {
		tree->lanes = memory_resize(tree->lanes, lane + 1u,
					    sizeof(*tree->lanes));
		memset(tree->lanes + tree->lane_count, 0,
		       (lane + 1u - tree->lane_count) * sizeof(*tree->lanes));
		tree->lane_count = lane + 1u;
	}
	at = &tree->lanes[lane];
	at->spans = memory_grow(at->spans, at->count, &at->capacity,
				sizeof(*at->spans));
	at->spans[at->count++] = (struct scope_span){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.name = name_table_number(&tree->names, name, name_len),
	};
}

static int compare_spans(const void *left, const void *right)
{
	const struct scope_span *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

static uint32_t add_node(struct scope_tree *tree, uint32_t parent,
			 uint32_t name, uint32_t depth)
{
	tree->nodes = memory_grow(tree->nodes, tree->node_count,
				  &tree->node_capacity, sizeof(*tree->nodes));
	tree->nodes[tree->node_count] = (struct scope_node){
		.name = name, .parent = parent, .depth = depth};
	return (uint32_t)tree->node_count++;
}

static uint32_t child_of(struct scope_tree *tree, uint32_t parent,
			 uint32_t name)
{
	const uint32_t key[2] = {parent, name};
	const size_t before = tree->paths.count;
	const uint32_t number =
		name_table_number(&tree->paths, (const char *)key, sizeof(key));

	if (number == before)
		add_node(tree, parent, name, tree->nodes[parent].depth + 1);
	return number;
}

/* paths and nodes count together, so a root takes a number in both. */
static uint32_t root_of(struct scope_tree *tree, const char *text, size_t len)
{
	const uint32_t name = name_table_number(&tree->names, text, len);
	const uint32_t key[3] = {UINT32_MAX, (uint32_t)tree->node_count, name};

	name_table_number(&tree->paths, (const char *)key, sizeof(key));
	return add_node(tree, 0, name, 0);
}

static void walk(struct scope_tree *tree, struct scope_lane *lane,
		 uint32_t root)
{
	struct scope_span *open = NULL;
	size_t depth = 0, capacity = 0;

	qsort(lane->spans, lane->count, sizeof(*lane->spans), compare_spans);
	for (size_t at = 0; at < lane->count; at++) {
		struct scope_span span = lane->spans[at];
		const int64_t dur_ns = span.end_ns - span.start_ns;
		uint32_t parent;

		while (depth && open[depth - 1].end_ns <= span.start_ns)
			depth--;
		parent = depth ? open[depth - 1].node : root;
		span.node = child_of(tree, parent, span.name);
		tree->nodes[span.node].calls++;
		saturate_into(&tree->nodes[span.node].total_ns, dur_ns);
		saturate_into(&tree->nodes[span.node].self_ns, dur_ns);
		if (depth)
			tree->nodes[parent].self_ns = saturate_subtract(
				tree->nodes[parent].self_ns, dur_ns);
		else
			saturate_into(&tree->nodes[root].total_ns, dur_ns);
		open = memory_grow(open, depth, &capacity, sizeof(*open));
		open[depth++] = span;
	}
	free(open);
}

/* Node numbers by parent, then longest first. */
static int compare_nodes(const void *left, const void *right, void *arg)
{
	const struct scope_node *nodes = arg;
	const struct scope_node *a = &nodes[*(const uint32_t *)left];
	const struct scope_node *b = &nodes[*(const uint32_t *)right];

	if (!a->depth != !b->depth)
		return a->depth ? 1 : -1;
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total_ns != b->total_ns && a->depth)
		return a->total_ns > b->total_ns ? -1 : 1;
	return *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

struct order {
	const struct scope_tree *tree;
	const uint32_t *sorted;
	size_t *first; /* where a node's children begin in sorted, or count */
	struct scope_node *out;
	size_t count, top;
};

/* Puts a node and what lies under it behind what is there already.  Recursion
 * ends at PRINTED_DEPTH: no real program nests that deep, hostile files may. */
static void put(struct order *order, uint32_t node)
{
	const struct scope_tree *tree = order->tree;
	size_t children = 0;

	order->out[order->count++] = tree->nodes[node];
	if (tree->nodes[node].depth >= PRINTED_DEPTH)
		return;
	for (size_t at = order->first[node]; at < tree->node_count; at++) {
		const struct scope_node *child =
			&tree->nodes[order->sorted[at]];

		if (!child->depth || child->parent != node)
			break;
		if (order->top && children++ == order->top)
			break;
		put(order, order->sorted[at]);
	}
}

static void arrange(struct scope_tree *tree, size_t top)
{
	const size_t count = tree->node_count;
	uint32_t *sorted = memory_zeroed(count, sizeof(*sorted));
	struct order order = {.tree = tree, .sorted = sorted, .top = top};

	order.first = memory_zeroed(count, sizeof(*order.first));
	order.out = memory_zeroed(count, sizeof(*order.out));
	for (size_t at = 0; at < count; at++) {
		sorted[at] = (uint32_t)at;
		order.first[at] = count;
	}
	qsort_r(sorted, count, sizeof(*sorted), compare_nodes, tree->nodes);
	for (size_t at = count; at-- > 0;)
		if (tree->nodes[sorted[at]].depth)
			order.first[tree->nodes[sorted[at]].parent] = at;
	for (size_t at = 0; at < count && !tree->nodes[sorted[at]].depth; at++)
		put(&order, sorted[at]);
	free(tree->nodes);
	tree->nodes = order.out;
	tree->node_count = order.count;
	free(order.first);
	free(sorted);
}

void scope_tree_build(struct scope_tree *tree,
		      const struct name_table *lane_texts, size_t top)
{
	for (size_t lane = 0; lane < tree->lane_count; lane++) {
		size_t len;
		const char *text =
			name_table_text(lane_texts, (uint32_t)lane, &len);

		if (!tree->lanes[lane].count)
			continue;
		walk(tree, &tree->lanes[lane], root_of(tree, text, len));
		free(tree->lanes[lane].spans);
		tree->lanes[lane] = (struct scope_lane){0};
	}
	arrange(tree, top);
}

void scope_tree_free(struct scope_tree *tree)
{
	for (size_t lane = 0; lane < tree->lane_count; lane++)
		free(tree->lanes[lane].spans);
	free(tree->lanes);
	free(tree->nodes);
	name_table_free(&tree->names);
	name_table_free(&tree->paths);
	memset(tree, 0, sizeof(*tree));
}
