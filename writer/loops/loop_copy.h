/* SPDX-License-Identifier: MIT */
/*
 * loop_copy.h - is all that a level has more a copy from a GPU or to it?
 *
 * After so many turns something is computed of what they made, perhaps, and
 * copied back: a picture, an energy, a loss.  A step that is around those turns
 * launches kernels of its own before them, or copies something in, too.
 */
#ifndef WRITER_LOOP_COPY_H
#define WRITER_LOOP_COPY_H

#include "writer/loops/loop_level.h"

/* What lies between two of the outer level's hits, and not in the turns of the
 * inner one. */
enum loop_copy {
	COPY_NOT,   /* something else */
	COPY_ALONE, /* one copy */
	COPY_LAST   /* a little that ends with one */
};

/* `usual`: inner turns to an outer one. */
enum loop_copy loop_copy_of(const struct loop_groups *groups,
			    const struct loop_candidate *inner,
			    const struct loop_candidate *outer, size_t usual);

#endif
