/* SPDX-License-Identifier: MIT */
/*
 * gpu_rows.h - the lanes of GPUs: which slice lies on which, and their names.
 *
 * A stream's work is one after another, so it lies on one lane; what overlaps
 * all the same (programmatic dependent launch, two threads that wait for one
 * stream) gets a side lane, since a viewer would drop or misdraw it.  Records
 * come in any order, so each lane keeps its latest spans sorted by time.
 *
 * Streams are numbered in each context anew.  Of two contexts on one device the
 * second one's streams lie on side lanes of their own.
 */
#ifndef WRITER_GPU_ROWS_H
#define WRITER_GPU_ROWS_H

#include "collector/system/base.h"
#include "writer/state/arena.h"
#include "writer/state/lane.h"

/* tid of a GPU's lanes: the stream, and this much more for each side lane. */
#define GPU_ROW_SIDE	2000000u
#define GPU_ROW_SYNC	1000000u
#define GPU_ROW_MARK	1500000u /* moments at which CUDA events were reached */
/* Annotations of several threads that cross on one stream. */
#define GPU_ROW_NEST	500000u

#define GPU_ROW_BUCKETS 1024u

struct gpu_row {
	struct gpu_row *older;
	struct gpu_row *in_bucket; /* older, of those with its hash */
	uint64_t pid;
	uint64_t tid;
	uint64_t named_in_file; /* file_index */
	uint32_t context;	/* whose it is, 0 anybody's */
	struct array spans;	/* of struct lane_span, by start */
	size_t count;
};

struct gpu_rows {
	struct arena arena;
	struct gpu_row *newest;
	size_t count;
	uint64_t crossing; /* spans that no lane was free for */
	struct gpu_row *buckets[GPU_ROW_BUCKETS]; /* by tid */
};

/* The row of that very lane, made if need be; NULL no memory, or too many. */
struct gpu_row *gpu_rows_find(struct gpu_rows *rows, uint64_t pid,
			      uint64_t tid);

/* The first of the lanes tid, tid + side, ... where the span is free, and puts
 * it there; NULL no memory.  What touches another is made shorter by as much as
 * readers round (nest.h). */
struct gpu_row *gpu_rows_place(struct gpu_rows *rows, uint64_t pid,
			       uint64_t tid, uint64_t side,
			       struct lane_span *span);

/* The same among the lanes that are no other context's, which is the context's
 * from then on. */
struct gpu_row *gpu_rows_place_in(struct gpu_rows *rows, uint64_t pid,
				  uint64_t tid, uint32_t context,
				  struct lane_span *span);

/* The first of these lanes, whatever lies there. */
struct gpu_row *gpu_rows_of(struct gpu_rows *rows, uint64_t pid, uint64_t tid,
			    uint32_t context);

/* How many of the lanes before it are the same context's; *is_second: those of
 * another come first. */
unsigned int gpu_rows_before(struct gpu_rows *rows, const struct gpu_row *row,
			     bool *is_second);

/* The same for spans that may lie in each other, but must not cross. */
struct gpu_row *gpu_rows_nest(struct gpu_rows *rows, uint64_t pid, uint64_t tid,
			      uint64_t side, struct lane_span span);

void gpu_rows_free(struct gpu_rows *rows);

#endif
