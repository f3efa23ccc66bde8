/* SPDX-License-Identifier: MIT */
/*
 * generated.h - what torch.compile calls the functions that it has written, and
 * which operators they stand for.
 *
 * On the processor each lies in a library of its own, where it is called
 * "kernel".  Its name, cpp_fused_add_relu_0, is in the Python file that the same
 * compilation wrote: beside the same source, which lies next to the library
 * too.  On a GPU a kernel has its name, and the Python file has the operators
 * in a comment.
 */
#ifndef WRITER_GENERATED_H
#define WRITER_GENERATED_H

#include "writer/state/compile_cache.h"
#include "writer/state/kernel_operators.h"

struct generated {
	struct compile_cache cache;
	struct arena arena;
	struct hash_index names; /* by what the source hashes to */
	struct kernel_operators operators;
	bool is_own; /* of this process: its environment names the cache */
};

/* The name of function `symbol` of the library at `path`, which lives as long
 * as this; NULL: it is no such function, or its name isn't found. */
const char *generated_name(struct generated *generated, const char *path,
			   const char *symbol, size_t len);

/* The operators that a kernel on a GPU was made of, as long as this lives;
 * NULL: torch.compile hasn't made it, or it isn't certain. */
const char *generated_operators(struct generated *generated,
				const char *kernel);
void generated_end(struct generated *generated);

#endif
