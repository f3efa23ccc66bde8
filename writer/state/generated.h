/* SPDX-License-Identifier: MIT */
/*
 * generated.h - what torch.compile calls the functions that it has written.
 *
 * Each lies in a library of its own, where it is called "kernel".  Its name,
 * cpp_fused_add_relu_0, which tells the operators that it stands for, is in the
 * Python file that the same compilation wrote: beside the same source, which
 * lies next to the library too.
 */
#ifndef WRITER_GENERATED_H
#define WRITER_GENERATED_H

#include "writer/state/hash_index.h"

/* What may be spent on a cache; all 0: what is usual. */
struct generated_limits {
	uint64_t files, bytes, ns;
};

struct generated {
	struct generated_limits limits;
	struct arena arena;
	struct array text;	 /* the file that is read just now */
	struct hash_index names; /* by what the source hashes to */
	struct hash_index paths; /* of what was listed */
	struct array waiting;	 /* files to be read, the next one last */
	size_t waits;
	uint64_t listed, read_bytes, spent_ns, seen_ns;
	bool is_cut; /* not all of a cache was looked at, for these limits */
};

/* The name of function `symbol` of the library at `path`, which lives as long
 * as this; NULL: it is no such function, or its name isn't found. */
const char *generated_name(struct generated *generated, const char *path,
			   const char *symbol, size_t len);
void generated_end(struct generated *generated);

#endif
