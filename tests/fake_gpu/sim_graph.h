/* SPDX-License-Identifier: MIT */
/*
 * sim_graph.h - CUDA graphs: work that is launched together.
 *
 * The nodes run one after the other in the order in which they were added,
 * which every dependency allows.
 */
#ifndef FAKE_GPU_SIM_GRAPH_H
#define FAKE_GPU_SIM_GRAPH_H

#include "tests/fake_gpu/sim_work.h"

struct sim_graph;

struct sim_graph *graph_new(void);
void graph_free(struct sim_graph *graph);
/* The same, for the program: CUPTI tells of it. */
void graph_destroy(struct sim_graph *graph, int is_executable);
uint32_t graph_id(const struct sim_graph *graph);

/* The number of the new node. */
uint64_t graph_add(struct sim_graph *graph, const struct sim_work *work);
/* Memory that each launch has from there on; without a size: no more.  0: there
 * is none. */
uint64_t graph_add_memory(struct sim_graph *graph, void **address, size_t size);
size_t graph_size(const struct sim_graph *graph);

/* A copy that can be launched; it outlives the original. */
struct sim_graph *graph_instantiate(struct sim_graph *graph);
/* The graph's parameters in its place; nodes go off and on again.  0 or an
 * error */
int graph_update(struct sim_graph *executable, const struct sim_graph *graph);
int graph_enable(struct sim_graph *executable, uint64_t node, int on);
int graph_launch(struct sim_graph *executable, struct sim_stream *stream);

/* 0 or a CUDA error */
int graph_begin_capture(struct sim_stream *stream);
int graph_end_capture(struct sim_stream *stream, struct sim_graph **graph);

#endif
