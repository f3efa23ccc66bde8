/* SPDX-License-Identifier: MIT */
/*
 * gpu_taken.h - what a file says of a time in which CUPTI told nothing: it was
 * another profiler's, or gave no sign.
 */
#ifndef WRITER_GPU_TAKEN_H
#define WRITER_GPU_TAKEN_H

#include "writer/gpu/gpu_known.h"

/* The file ends: slices for the times at which CUPTI was another's, as far as
 * they lie in it. */
void gpu_taken_draw(struct writer_state *state, uint64_t end_ticks);

#endif
