/* SPDX-License-Identifier: MIT */
/*
 * step_phases.h - how long a training step goes forward, backward and so on.
 *
 * By the slices of its phases, which the library draws from what PyTorch's
 * operators tell.  They are the host's: a GPU may be behind.
 */
#ifndef TOOLS_STEP_PHASES_H
#define TOOLS_STEP_PHASES_H

#include "tools/model/split.h"

enum step_phase {
	STEP_DATA,
	STEP_FORWARD,
	STEP_BACKWARD,
	STEP_OPTIMIZER,
	STEP_OTHER,
	STEP_PHASES
};

/* Of the process of the critical thread, what lies in typical steps; at most
 * split->total_ns in all.  false: there are none, or they overlap. */
bool phases_sum(const struct timeline *timeline, const struct split *split,
		int64_t ns[STEP_PHASES]);

/* The phase that slices of that name are; STEP_PHASES: none. */
enum step_phase phases_of(const struct timeline *timeline, uint32_t name);

/* gpu_phases.c: the GPU's time, summed over streams, of what was launched in
 * typical steps: by the phase in which it was, and of all.  false: none was, or
 * there are no phases. */
bool phases_gpu(const struct timeline *timeline, const struct split *split,
		int64_t ns[STEP_PHASES], int64_t *all_ns);

/* From the first phase to the end of the last, where a model is trained: some
 * of the phases go backward.  false: none is. */
bool phases_span(const struct timeline *timeline, int64_t *start_ns,
		 int64_t *end_ns);

const char *phases_text(enum step_phase phase); /* "forward" */

#endif
