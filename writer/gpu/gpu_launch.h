/* SPDX-License-Identifier: MIT */
/*
 * gpu_launch.h - the calls that put work on a GPU, found by correlation id.
 *
 * A table that is overwritten in turn: ids are handed out one after another, so
 * so many calls lie between two that share a place.
 */
#ifndef WRITER_GPU_LAUNCH_H
#define WRITER_GPU_LAUNCH_H

#include "collector/session/event.h"
#include "writer/state/arena.h"

struct gpu_launch {
	uint64_t correlation;
	uint64_t start_ticks;
	uint64_t start_ns;    /* in the file */
	uint64_t external_id; /* of the slice around it, 0 none */
	uint64_t drawn_in; /* file_index it belongs to, 0 none that is open */
	uint64_t work_in;  /* ... of the first work that it is linked to */
	uint64_t sync_in;  /* ... of the first wait */
	uint32_t tid;
	uint32_t pad;
};

struct gpu_launches {
	struct array array;
};

/* 0 or -ENOMEM. */
int gpu_launches_start(struct gpu_launches *launches);
void gpu_launches_end(struct gpu_launches *launches);

/* A call was seen, ahead of the drain or by it: its place. */
struct gpu_launch *gpu_launches_add(struct gpu_launches *launches,
				    const struct event *call);

/* NULL: not seen, or too long ago. */
struct gpu_launch *gpu_launches_find(const struct gpu_launches *launches,
				     uint64_t correlation);

#endif
