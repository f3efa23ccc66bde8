/* SPDX-License-Identifier: MIT */
/*
 * cupti_graph_memory.h - device memory that belongs to CUDA graphs.
 *
 * A node of a graph may allocate or free: cudaGraphAddMemAllocNode(), or
 * cudaMallocAsync() while a stream is captured.  Its address is fixed from then
 * on, and the memory is there from when a launch comes to the node to when one
 * comes to the node that frees it.  CUPTI has no record of that.  So nodes are
 * noted by callbacks, and each launch's are made into events: allocations at
 * the beginning of its first work, frees at the end of its last.
 */
#ifndef PRELOAD_CUPTI_GRAPH_MEMORY_H
#define PRELOAD_CUPTI_GRAPH_MEMORY_H

#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_pinned.h"

#ifdef HAVE_CUPTI
#include "collector/session/session.h"

/* The calls that may make such a node are called back for. */
void cupti_graph_memory_start(void *subscriber);

/* One of these begins or ends. */
void cupti_graph_memory_call(enum cupti_memory_call call,
			     const CUpti_CallbackData *data);

/* A graph's life, in callbacks on the thread that makes it. */
void cupti_graph_memory_begins(CUgraph graph);
void cupti_graph_memory_node(CUgraph graph, CUgraphNodeType type);
void cupti_graph_memory_tell(CUgraph graph, uint32_t id);
void cupti_graph_memory_ends(uint32_t id);

#endif
#endif
