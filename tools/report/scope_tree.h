/* SPDX-License-Identifier: MIT */
/*
 * scope_tree.h - which slice ran inside which, for `traceprof report --tree`.
 *
 * Slices of one lane that have the same path of names are one node.  Nothing of
 * it is kept without --tree.
 */
#ifndef TOOLS_SCOPE_TREE_H
#define TOOLS_SCOPE_TREE_H

#include "tools/util/key_table.h"
#include "tools/util/lane_spans.h"

struct scope_node {
	uint32_t name;	 /* in names; a root's is its lane */
	uint32_t parent; /* a root's is itself */
	uint32_t depth;	 /* 0 for the root, which is the lane */
	int64_t calls;
	int64_t total_ns, self_ns;
};

struct scope_tree {
	struct key_table names;
	struct key_table nodes; /* struct scope_node, by parent and name */
	struct scope_node *
		*printed; /* after scope_tree_build(): in tree order */
	size_t printed_count;
};

/* is_share: a member's part of an OpenMP region; inside of its region, which
 * has the same name, it is not told apart.  is_range: see lane_spans.h. */
void scope_tree_add(struct scope_tree *tree, struct lane_spans *lane,
		    const char *name, size_t name_len, int64_t start_ns,
		    int64_t end_ns, bool is_share, bool is_range);

/* Builds the nodes, children after their parent, longest first, at most `top`
 * children each (0: all).  The rows of `lanes` begin with their spans. */
void scope_tree_build(struct scope_tree *tree, const struct key_table *lanes,
		      size_t top);

void scope_tree_free(struct scope_tree *tree);

#endif
