/* SPDX-License-Identifier: MIT */
/*
 * hot_phases.h - what was going on while a function had the processor: an
 * OpenMP region, the time between two, a GPU that had nothing to do.
 *
 * A region is told by the call path, so those count that are not drawn, too.  A
 * GPU's idle time is told by the clock: a slice of samples stands for the time
 * in which no other slice lies in it, and its processor time is spread evenly.
 */
#ifndef TOOLS_HOT_PHASES_H
#define TOOLS_HOT_PHASES_H

#include "tools/trace/trace_reader.h"

struct hot;

enum hot_phase {
	HOT_PHASE_ALL,
	HOT_PHASE_REGIONS,
	HOT_PHASE_BETWEEN,
	HOT_PHASE_GPU_IDLE
};

/* False: there is none of that name. */
bool hot_phase_parse(const char *text, enum hot_phase *phase);

/* The work of all GPUs of a file. */
struct hot_gpu {
	struct hot_gpu_work {
		int64_t start_ns, end_ns;
		int64_t before_ns; /* work that ended before */
	} * work;
	size_t count, capacity;
};

void hot_gpu_event(struct hot_gpu *gpu, const struct trace_event *event);

/* All of it is there. */
void hot_gpu_ready(struct hot_gpu *gpu);

/* How long none worked, between the first work and the last. */
int64_t hot_gpu_idle_ns(const struct hot_gpu *gpu, int64_t start_ns,
			int64_t end_ns);

/* Says of each path whether it lies in a region. */
void hot_phases_mark(struct hot *hot);

/* Leaves only what lies in the phase. */
void hot_phases_keep(struct hot *hot, enum hot_phase phase);

#endif
