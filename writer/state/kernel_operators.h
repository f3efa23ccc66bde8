/* SPDX-License-Identifier: MIT */
/*
 * kernel_operators.h - which operators torch.compile has made a Triton kernel
 * of.
 *
 * It says so in a comment before the kernel's source:
 *
 *	# kernel path: /tmp/torchinductor_me/ab/cab....py
 *	# Topologically Sorted Source Nodes: [x], Original ATen: [aten.relu]
 *	# Source node to ATen node mapping:
 *	#   x => relu
 *	triton_poi_fused_relu_0 = async_compile.triton('...', '''
 *
 * ("# Source Nodes: ..." up to 2.4, "# Unsorted Source Nodes: ..." of nodes of
 * several graphs.)  A cache has files of other programs, too, in which a kernel
 * of that name may be another.  So it is believed only if the operators make up
 * the name, as they do unless torch.compile is told to name kernels otherwise,
 * and if all files that have such a kernel agree.
 */
#ifndef WRITER_KERNEL_OPERATORS_H
#define WRITER_KERNEL_OPERATORS_H

#include "writer/state/hash_index.h"

struct kernel_operators {
	struct arena arena;
	struct hash_index kernels;
};

struct kernel {
	const char *name;
	const char *operators; /* "aten.relu, aten.add"; NULL: in dispute */
	uint64_t set;	       /* what they hash to in any order */
};

/* Kernels that this file of Python's defines. */
void kernel_operators_take(struct kernel_operators *operators,
			   const char *text);

/* True of a name that torch.compile gives a kernel of operators. */
bool kernel_operators_are_named(const char *name);

/* The kernel that a GPU calls so; NULL: no file has defined it.  Triton before
 * 3 puts what it knows of arguments behind the name: "_0d1d2de". */
const struct kernel *
kernel_operators_find(const struct kernel_operators *operators,
		      const char *name);
void kernel_operators_end(struct kernel_operators *operators);

#endif
