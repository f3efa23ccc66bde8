/* SPDX-License-Identifier: MIT */
/*
 * gpu_runs.h - which launch of a CUDA graph a piece of work belongs to.
 *
 * Work in a node that the GPU decides about, the body of a loop or of a
 * condition, has no correlation id (CUPTI 13.0), but its graph's id.  One
 * graph's launches run one after another, and the rest of their work has its
 * id: what lies between is of the same launch.  Where it could be of either of
 * two it is of none.
 */
#ifndef WRITER_GPU_RUNS_H
#define WRITER_GPU_RUNS_H

#include "writer/gpu/gpu_launch.h"

#define GPU_RUNS_KEPT	32768u
#define GPU_RUNS_CHAINS 1024u

/* From the first to the last piece of work that is known of a launch. */
struct gpu_run {
	uint64_t older; /* number of the one before in its chain, from 1 */
	uint64_t correlation;
	uint64_t first_ticks, last_ticks;
	uint32_t graph;
};

struct gpu_runs {
	struct array array; /* of struct gpu_run, in turn */
	uint64_t count;	    /* ever */
	uint64_t newest[GPU_RUNS_CHAINS];
};

/* A kernel, copy or memset that has no id and may have a launch. */
static inline bool gpu_runs_wants(const struct event *event)
{
	return (event->kind == EVENT_GPU_KERNEL ||
		event->kind == EVENT_GPU_COPY ||
		event->kind == EVENT_GPU_FILL) &&
	       event->gpu.graph && !event->gpu.correlation;
}

/* Work of a graph was seen, in any order; any other event is left alone. */
void gpu_runs_note(struct gpu_runs *runs, const struct event *event);

/* The correlation id of its launch; 0 unknown.  All that began before its end
 * must have been noted. */
uint64_t gpu_runs_find(const struct gpu_runs *runs,
		       const struct gpu_launches *launches,
		       const struct event *event);

void gpu_runs_free(struct gpu_runs *runs);

#endif
