/* SPDX-License-Identifier: MIT */
/*
 * sim_memory.h - the device's memory, and what is known of the host's.
 *
 * Device memory is host memory, so copies are true; a table of address ranges
 * says what is of which kind.
 */
#ifndef FAKE_GPU_SIM_MEMORY_H
#define FAKE_GPU_SIM_MEMORY_H

#include <cupti.h>
#include <stddef.h>

struct sim_pool;

/* 0 or a CUDA error.  `stream` is the id of the stream of an asynchronous
 * call, else 0. */
int memory_new(void **address, size_t size, CUpti_ActivityMemoryKind kind,
	       uint32_t stream);
/* From a pool; without one as above. */
int memory_new_in(struct sim_pool *pool, void **address, size_t size,
		  CUpti_ActivityMemoryKind kind, uint32_t stream);
/* Of a graph: nothing is recorded, but with CAPTURED_MEMORY. */
int memory_new_captured(void **address, size_t size);
void memory_free_captured(void *address);
int memory_free(void *address, CUpti_ActivityMemoryKind kind, uint32_t stream);

/* Host memory of the program's own, pinned and unpinned. */
int memory_pin(void *address, size_t size);
int memory_unpin(void *address);

CUpti_ActivityMemoryKind memory_kind(const void *address);
size_t memory_in_use(void);

/* All managed memory that isn't there moves to the GPU, or back; `asked`: the
 * program wants it, nobody ran into a fault. */
void memory_move_managed(int to_gpu, int asked);

#endif
