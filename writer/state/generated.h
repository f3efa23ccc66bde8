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

struct generated {
	struct arena arena;
	struct array text;	 /* the file that is read just now */
	struct hash_index names; /* by what the source hashes to */
	struct hash_index files; /* those that were read, by path */
	size_t read_bytes;
};

/* The name of function `symbol` of the library at `path`, which lives as long
 * as this; NULL: it is no such function, or its name isn't found. */
const char *generated_name(struct generated *generated, const char *path,
			   const char *symbol, size_t len);
void generated_end(struct generated *generated);

#endif
