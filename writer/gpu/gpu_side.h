/* SPDX-License-Identifier: MIT */
/*
 * gpu_side.h - what a GPU tells beside calls and work: compilation, host
 * functions, managed memory, memory pools, samples of its state.
 */
#ifndef WRITER_GPU_SIDE_H
#define WRITER_GPU_SIDE_H

#include "writer/gpu/gpu_json.h"

/* tid of the rows, on the device's pid. */
#define GPU_ROW_UNIFIED	 1700000u
#define GPU_ROW_THROTTLE 1800000u

static inline bool gpu_is_side(unsigned int kind)
{
	return kind >= EVENT_GPU_JIT && kind <= EVENT_GPU_SAMPLE;
}

/* False: it isn't in the file.  `tid` is the thread as shown, where the kind
 * has one. */
bool gpu_side_draw(struct writer_state *state, struct gpu_slice *slice,
		   uint64_t tid);

/* The counter of a sample, or of the pool that a block came from. */
void gpu_side_sample(struct writer_state *state, const struct event *event,
		     uint64_t ts_ns);
void gpu_side_pool(struct writer_state *state, uint32_t device,
		   const struct gpu_pool *pool, uint64_t ts_ns);
void gpu_side_pool_args(struct json *json, const struct gpu_pool *pool);

#endif
