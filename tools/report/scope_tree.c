/* SPDX-License-Identifier: MIT */
/*
 * scope_tree.c - walks each lane's slices and merges those of one path.
 */
#include "tools/report/scope_tree.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define PRINTED_DEPTH 1000u
#define NO_PARENT     UINT32_MAX

void scope_tree_add(struct scope_tree *tree, struct lane_spans *lane,
		    const char *name, size_t name_len, int64_t start_ns,
		    int64_t end_ns, bool is_share, bool is_range)
{
	const uint32_t number = key_table_number(&tree->names, name, name_len);

	lane_spans_add(lane, (struct lane_span){start_ns, end_ns, number,
						is_share, is_range});
}

static struct scope_node *node_at(const struct scope_tree *tree, uint32_t node)
{
	return key_table_row(&tree->nodes, node);
}

static uint32_t node_of(struct scope_tree *tree, uint32_t parent, uint32_t name)
{
	const uint32_t key[2] = {parent, name};
	const uint32_t number =
		key_table_number(&tree->nodes, key, sizeof(key));
	struct scope_node *node = node_at(tree, number);

	node->name = name;
	node->parent = parent == NO_PARENT ? number : parent;
	if (parent != NO_PARENT)
		node->depth = node_at(tree, parent)->depth + 1;
	return number;
}

struct lane_walk {
	struct scope_tree *tree;
	uint32_t root;
};

static bool on_span(void *arg, const struct lane_span *outer,
		    struct lane_span *span)
{
	const struct lane_walk *walk = arg;
	const uint32_t parent = outer ? outer->mark : walk->root;
	const int64_t dur_ns = span->end_ns - span->start_ns;
	struct scope_node *node, *above;

	if (outer && span->mark && outer->name == span->name) {
		span->mark = parent;
		return true;
	}
	span->mark = node_of(walk->tree, parent, span->name);
	node = node_at(walk->tree, span->mark);
	above = node_at(walk->tree, parent);
	node->calls++;
	saturate_into(&node->total_ns, dur_ns);
	saturate_into(&node->self_ns, dur_ns);
	if (outer)
		above->self_ns = saturate_subtract(
			above->self_ns, lane_span_inside_ns(outer, span));
	else
		saturate_into(&above->total_ns, dur_ns);
	return true;
}

/* By parent, then longest first; roots as they came. */
static int compare_nodes(const void *left, const void *right)
{
	const struct scope_node *a = *(struct scope_node *const *)left;
	const struct scope_node *b = *(struct scope_node *const *)right;

	if (!a->depth != !b->depth)
		return a->depth ? 1 : -1;
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a < b ? -1 : 1;
}

struct order {
	struct scope_tree *tree;
	struct scope_node **sorted;
	size_t *first; /* where a node's children begin in sorted, or count */
	size_t top;
};

/* Puts a node and what lies under it after what is there already.  Recursion
 * ends at PRINTED_DEPTH: no real program nests that deep, hostile files may. */
static void put(struct order *order, struct scope_node *node)
{
	struct scope_tree *tree = order->tree;
	const uint32_t number = (uint32_t)(node - node_at(tree, 0));
	size_t children = 0;

	tree->printed[tree->printed_count++] = node;
	if (node->depth >= PRINTED_DEPTH)
		return;
	for (size_t at = order->first[number]; at < tree->nodes.count; at++) {
		struct scope_node *child = order->sorted[at];

		if (child->parent != number ||
		    (order->top && children++ == order->top))
			return;
		put(order, child);
	}
}

static void arrange(struct scope_tree *tree, size_t top)
{
	const size_t count = tree->nodes.count;
	struct order order = {.tree = tree, .top = top};

	tree->printed = memory_zeroed(count, sizeof(*tree->printed));
	order.sorted = memory_zeroed(count, sizeof(*order.sorted));
	order.first = memory_zeroed(count, sizeof(*order.first));
	for (uint32_t at = 0; at < count; at++) {
		order.sorted[at] = node_at(tree, at);
		order.first[at] = count;
	}
	qsort(order.sorted, count, sizeof(*order.sorted), compare_nodes);
	for (size_t at = count; at-- > 0;)
		if (order.sorted[at]->depth)
			order.first[order.sorted[at]->parent] = at;
	for (size_t at = 0; at < count && !order.sorted[at]->depth; at++)
		put(&order, order.sorted[at]);
	free(order.first);
	free(order.sorted);
}

void scope_tree_build(struct scope_tree *tree, const struct key_table *lanes,
		      size_t top)
{
	struct lane_walk walk = {.tree = tree};

	tree->nodes.row_bytes = sizeof(struct scope_node);
	for (uint32_t at = 0; at < lanes->count; at++) {
		struct lane_spans *lane = key_table_row(lanes, at);

		if (!lane->count)
			continue;
		walk.root = node_of(tree, NO_PARENT, at);
		lane_spans_walk(lane, on_span, &walk);
		lane_spans_free(lane);
	}
	arrange(tree, top);
}

void scope_tree_free(struct scope_tree *tree)
{
	free(tree->printed);
	key_table_free(&tree->names);
	key_table_free(&tree->nodes);
}
