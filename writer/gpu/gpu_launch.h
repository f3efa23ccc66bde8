/* SPDX-License-Identifier: MIT */
/*
 * gpu_launch.h - calls that other records of a GPU refer to.
 *
 * Those that put work on it are found by correlation id.  The last ones that
 * were seen are kept, chained by their id: each call of CUDA takes one,
 * recorded or not, so ids don't tell how many known ones lie between two.
 */
#ifndef WRITER_GPU_LAUNCH_H
#define WRITER_GPU_LAUNCH_H

#include "collector/session/event.h"
#include "writer/state/arena.h"

struct gpu_launch {
	uint64_t older; /* number of the one before in its chain, from 1 */
	uint64_t correlation;
	uint64_t start_ticks;
	uint64_t start_ns;    /* in the file */
	uint64_t external_id; /* of the slice around it, 0 none */
	uint64_t drawn_in;   /* file_index it belongs to, 0 none that is open */
	uint64_t work_in;    /* ... of the first work that it is linked to */
	uint64_t sync_in;    /* ... of the first wait */
	uint64_t awaited_in; /* file that has the call of a kernel */
	uint64_t arrived_in; /* ... and its work */
	uint32_t tid;
	uint32_t kernels; /* of it, so far */
	bool has_none;	  /* a graph of copies and memsets */
};

struct gpu_launches {
	struct array array;  /* of struct gpu_launch, in turn */
	struct array newest; /* of uint64_t: the number of each chain's last */
	uint64_t count;	     /* ever */
	uint64_t file;	     /* that the counts are of */
	uint64_t launched;   /* calls that launch kernels */
	uint64_t missing;    /* of those, without all of their work so far */
	uint64_t partial;    /* of these: a graph, with some of it */
	/* Of those without any: so long ago that their places are others'. */
	uint64_t forgotten;
	uint64_t unsized; /* of graphs, with any number of kernels */
};

/* 0 or -ENOMEM. */
int gpu_launches_start(struct gpu_launches *launches);
void gpu_launches_end(struct gpu_launches *launches);

/* A call was seen, ahead of the drain or by it: its place. */
struct gpu_launch *gpu_launches_add(struct gpu_launches *launches,
				    const struct event *call);

/* Such a call is in the file of that index, or a kernel of it is, which is one
 * of `wanted`; 0: nobody knows. */
void gpu_launches_await(struct gpu_launches *launches,
			struct gpu_launch *launch, uint64_t file);
void gpu_launches_arrive(struct gpu_launches *launches,
			 struct gpu_launch *launch, uint32_t wanted,
			 uint64_t file);

/* It is known by now that it launches no kernel. */
void gpu_launches_excuse(struct gpu_launches *launches,
			 struct gpu_launch *launch, uint64_t file);

/* A kernel of no graph whose call has no place any more. */
void gpu_launches_stray(struct gpu_launches *launches, uint64_t file);

/* NULL: not seen, or too long ago. */
struct gpu_launch *gpu_launches_find(const struct gpu_launches *launches,
				     uint64_t correlation);

/*
 * Recordings of CUDA events, found by who waits for them.  A wait names the
 * event, and from CUPTI 12.8 on the recording of it; what a reader wants to
 * know is the call that recorded it and its stream.  The last recordings are
 * kept, chained by their event.
 */
#define GPU_MARKS_KEPT	 65536u
#define GPU_MARKS_CHAINS 4096u

struct gpu_mark {
	uint64_t older; /* number of the one before in its chain, from 1 */
	uint64_t correlation;
	uint32_t context, event;
	uint32_t recording; /* 0 unknown */
	uint32_t stream;
};

struct gpu_marks {
	struct array array; /* of struct gpu_mark, in turn */
	uint64_t count;	    /* ever */
	uint64_t missed;    /* waits that were drawn without theirs */
	uint64_t newest[GPU_MARKS_CHAINS];
};

/* A recording was seen; one that there is no memory for is not kept. */
void gpu_marks_add(struct gpu_marks *marks, const struct event *event);

/* The recording that a wait is for: the one it names, else the last one of its
 * event before the wait was called for.  NULL: not seen, or too long ago. */
const struct gpu_mark *gpu_marks_find(const struct gpu_marks *marks,
				      const struct event *wait);

void gpu_marks_free(struct gpu_marks *marks);

#endif
