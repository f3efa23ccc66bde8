/* SPDX-License-Identifier: MIT */
/*
 * scope_tree.h - which slice ran inside which, for `traceprof report --tree`.
 *
 * Slices of one lane that have the same path of names are one node.  A slice
 * is written when it ends, so the tree can only be built when all were seen:
 * 24 bytes a slice are kept until then, and nothing of it without --tree.
 */
#ifndef TOOLS_SCOPE_TREE_H
#define TOOLS_SCOPE_TREE_H

#include "tools/util/name_table.h"

struct scope_node {
	uint32_t name;	 /* in names; a root's is its lane's text */
	uint32_t parent; /* 0: is a root itself or lies under one */
	uint32_t depth;	 /* 0 for the root, which is the lane */
	uint64_t calls;
	int64_t total_ns, self_ns;
};

struct scope_tree {
	struct name_table names;
	struct scope_lane *lanes;
	size_t lane_count;
	struct scope_node *nodes; /* after scope_tree_build(): in tree order */
	size_t node_count, node_capacity;
	struct name_table paths; /* parent and name of a node, while building */
};

void scope_tree_add(struct scope_tree *tree, uint32_t lane, const char *name,
		    size_t name_len, int64_t start_ns, int64_t end_ns);

/* Builds the nodes, children behind their parent, longest first, at most `top`
 * children each (0: all).  lane_text names the roots. */
void scope_tree_build(struct scope_tree *tree,
		      const struct name_table *lane_texts, size_t top);

void scope_tree_free(struct scope_tree *tree);

#endif
