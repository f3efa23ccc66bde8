/* SPDX-License-Identifier: MIT */
/*
 * gpu_occupancy.h - how much of a GPU a kernel can use at once.
 *
 * From the device's limits and the launch's sizes alone, as NVIDIA's occupancy
 * calculator does it: no counter is read.
 */
#ifndef WRITER_GPU_OCCUPANCY_H
#define WRITER_GPU_OCCUPANCY_H

#include "collector/session/event.h"
#include "collector/session/gpu_state.h"

struct gpu_occupancy {
	double blocks_per_sm; /* of this grid */
	double warps_per_sm;
	unsigned int percent; /* estimated achieved occupancy */
	unsigned int active;  /* blocks that fit on one multiprocessor */
	unsigned int by_warps, by_registers, by_shared, by_blocks;
	unsigned int registers_per_block, shared_per_block; /* allocated */
};

/* False: the device isn't known. */
bool gpu_occupancy_of(const struct gpu_device *device,
		      const struct gpu_kernel *kernel,
		      struct gpu_occupancy *made);

#endif
