/* SPDX-License-Identifier: MIT */
/*
 * gpu_strays.h - work that was drawn before its call came.
 *
 * As a rule it waits for that.  Where the writer is far behind, or the window's
 * file ends, it doesn't: the call, once it comes, is to find it nevertheless.
 * Where another takes its place it stays what it is: counted as `unlinked`, and
 * its call as one that lacks it.
 */
#ifndef WRITER_GPU_STRAYS_H
#define WRITER_GPU_STRAYS_H

#include "writer/gpu/gpu_rows.h"
#include "writer/state/arena.h"

#define GPU_STRAYS_KEPT 4096u /* places, by correlation id */

struct gpu_stray {
	uint64_t correlation;
	uint64_t file;		   /* whose file_index */
	const struct gpu_row *row; /* of the first slice of it */
	uint64_t start_ns;	   /* ... */
	uint32_t count;		   /* of these, linked to nothing */
	uint32_t kernels;	   /* of these */
	uint32_t wanted;	   /* kernels of its launch; 0 nobody knows */
};

struct gpu_strays {
	struct array array; /* of struct gpu_stray; made for the first one */
};

void gpu_strays_free(struct gpu_strays *strays);

/* A slice of work without a call is in the file.  NULL: no memory. */
struct gpu_stray *gpu_strays_add(struct gpu_strays *strays,
				 uint64_t correlation, uint64_t file,
				 const struct gpu_row *row, uint64_t start_ns);

/* Whose call is here now; it is forgotten.  False: there was none. */
bool gpu_strays_take(struct gpu_strays *strays, uint64_t correlation,
		     uint64_t file, struct gpu_stray *taken);

#endif
