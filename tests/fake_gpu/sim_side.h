/* SPDX-License-Identifier: MIT */
/*
 * sim_side.h - what CUPTI tells beside calls and work: memory pools, managed
 * memory, compilation, host functions.
 */
#ifndef FAKE_GPU_SIM_SIDE_H
#define FAKE_GPU_SIM_SIDE_H

#include <cupti.h>
#include <stddef.h>
#include <stdint.h>

/* Since 13.1; no older header has them. */
#define KIND_GRAPH_HOST_NODE ((CUpti_ActivityKind)56)
#define KIND_HOST_LAUNCH     ((CUpti_ActivityKind)58)
enum { VERSION_HOST_NODES = 130100 };

struct side_host_node {
	uint32_t kind, stream, context, device, correlation, graph;
	uint64_t node;
	uint32_t process, thread;
	uint64_t start, end;
};

struct side_host_launch {
	uint32_t kind, stream, context, device, correlation, process, thread,
		pad;
	uint64_t start, end;
};

struct sim_pool {
	size_t size, used;
	uint64_t threshold;
};

/* The device's own. */
struct sim_pool *pool_default(void);
struct sim_pool *pool_new(void);
void pool_free(struct sim_pool *pool);
void pool_trim(struct sim_pool *pool, size_t keep);

/* A block was taken from it, or given back (negative). */
void pool_take(struct sim_pool *pool, int64_t bytes);

/* Managed memory of that address moves, on this thread, if its kind was asked
 * for. */
void side_migrate(const void *address, size_t bytes, int to_gpu, int asked);

/* This image was compiled between these moments of the client's clock. */
void side_compiled(const char *image, uint64_t start, uint64_t end);

/* Calls the function as CUDA's own thread would, and records it; a node is one
 * of a graph. */
void side_call_host(void (*function)(void *), void *argument, uint32_t stream,
		    uint32_t graph, uint64_t node);

#endif
