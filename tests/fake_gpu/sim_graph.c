/* SPDX-License-Identifier: MIT */
/*
 * sim_graph.c - capture, instantiation, launch.
 */
#include "tests/fake_gpu/sim_graph.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_callbacks.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_memory.h"
#include <driver_types.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct sim_graph {
	uint32_t id;
	size_t count, room;
	struct sim_work *nodes;
};

static _Atomic uint32_t last_id;

static struct sim_graph *make(void)
{
	struct sim_graph *graph = calloc(1, sizeof(*graph));

	graph->id = ++last_id;
	return graph;
}

struct sim_graph *graph_new(void)
{
	struct sim_graph *graph = make();

	callbacks_graph(CUPTI_CBID_RESOURCE_GRAPH_CREATED, graph, NULL);
	return graph;
}

void graph_free(struct sim_graph *graph)
{
	if (graph)
		free(graph->nodes);
	free(graph);
}

void graph_destroy(struct sim_graph *graph, int is_executable)
{
	callbacks_graph(
		is_executable ? CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING
			      : CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
		is_executable ? NULL : graph, is_executable ? graph : NULL);
	graph_free(graph);
}

uint32_t graph_id(const struct sim_graph *graph)
{
	return graph->id;
}

size_t graph_size(const struct sim_graph *graph)
{
	return graph->count;
}

static uint64_t append(struct sim_graph *graph, const struct sim_work *work)
{
	if (graph->count == graph->room) {
		graph->room = graph->room ? 2 * graph->room : 16;
		graph->nodes = realloc(graph->nodes,
				       graph->room * sizeof(*graph->nodes));
	}

	struct sim_work *node = &graph->nodes[graph->count++];
	*node = *work;
	node->graph = graph->id;
	node->graph_node = (uint64_t)graph->id << 32 | graph->count;
	return node->graph_node;
}

/* As 13.0 was seen to do it: the type is told when a node begins to be made,
 * and is 0 once it is there. */
static void tell_node(struct sim_graph *graph, uint64_t node,
		      enum work_kind kind, bool is_copy)
{
	static const CUgraphNodeType types[] = {
		[WORK_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL,
		[WORK_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
		[WORK_SET] = CU_GRAPH_NODE_TYPE_MEMSET,
		[WORK_HOST] = CU_GRAPH_NODE_TYPE_HOST,
		[WORK_ALLOC] = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
		[WORK_FREE] = CU_GRAPH_NODE_TYPE_MEM_FREE,
	};

	callbacks_graph_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING,
			     graph, node, types[kind]);
	if (!is_copy || (kind != WORK_ALLOC && kind != WORK_FREE))
		callbacks_graph_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
				     graph, node, 0);
}

uint64_t graph_add(struct sim_graph *graph, const struct sim_work *work)
{
	const uint64_t node = append(graph, work);

	tell_node(graph, node, work->kind, false);
	return node;
}

uint64_t graph_add_memory(struct sim_graph *graph, void **address, size_t size)
{
	struct sim_work work = {.kind = size ? WORK_ALLOC : WORK_FREE};

	if (size && memory_new_captured(address, size))
		return 0;
	if (!size)
		memory_free_captured(*address);
	work.to = *address;
	work.bytes = size;
	return graph_add(graph, &work);
}

struct sim_graph *graph_instantiate(struct sim_graph *graph)
{
	struct sim_graph *executable = make();

	/* Its nodes are copies, and made like others. */
	callbacks_graph(CUPTI_CBID_RESOURCE_GRAPH_CREATED, executable, NULL);
	for (size_t i = 0; i < graph->count; i++)
		tell_node(executable, append(executable, &graph->nodes[i]),
			  graph->nodes[i].kind, true);
	callbacks_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, graph,
			executable);
	return executable;
}

/* As a program that captures its step anew does it: the same nodes, with other
 * parameters. */
int graph_update(struct sim_graph *executable, const struct sim_graph *graph)
{
	if (!executable || !graph || executable->count != graph->count)
		return cudaErrorGraphExecUpdateFailure;
	for (size_t i = 0; i < graph->count; i++)
		if (executable->nodes[i].kind != graph->nodes[i].kind)
			return cudaErrorGraphExecUpdateFailure;
	for (size_t i = 0; i < graph->count; i++) {
		struct sim_work *node = &executable->nodes[i];
		const struct sim_work was = *node;

		*node = graph->nodes[i];
		node->graph = was.graph;
		node->graph_node = was.graph_node;
		node->disabled = was.disabled;
	}
	return 0;
}

/* The node is named by that of the graph it was made from. */
int graph_enable(struct sim_graph *executable, uint64_t node, int on)
{
	const uint64_t at = (uint32_t)node - UINT64_C(1);

	if (!executable || at >= executable->count ||
	    executable->nodes[at].kind > WORK_SET)
		return CUDA_ERROR_INVALID_VALUE;
	executable->nodes[at].disabled = !on;
	return 0;
}

static void record_graph(const struct sim_graph *graph, uint32_t stream,
			 int64_t start, int64_t end)
{
	const CUpti_ActivityGraphTrace2 record = {
		.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		.correlationId = sim_call_correlation(),
		.deviceId = life_device(),
		.graphId = graph->id,
		.contextId = life_context_id(),
		.streamId = stream,
		.endDeviceId = life_device(),
		.endContextId = life_context_id(),
	};

	activity_emit_later(&record, stream, start, end);
}

int graph_launch(struct sim_graph *executable, struct sim_stream *stream)
{
	const int whole = activity_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	int64_t first = 0, start = 0, end = 0;
	struct sim_call inner;

	if (!executable || !stream)
		return CUDA_ERROR_INVALID_VALUE;
	sim_call_begin_inner(&inner, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
			     "cuGraphLaunch");
	for (size_t i = 0; i < executable->count; i++) {
		struct sim_work node = executable->nodes[i];

		if (node.disabled)
			continue;
		node.silent = whole;
		work_run(stream, &node, &start, &end);
		if (!first)
			first = start;
	}
	if (whole && executable->count)
		record_graph(executable, stream->id, first, end);
	sim_call_end_inner(&inner);
	return 0;
}

int graph_begin_capture(struct sim_stream *stream)
{
	if (!stream || stream == stream_null())
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	stream->capture = graph_new();
	return 0;
}

int graph_end_capture(struct sim_stream *stream, struct sim_graph **graph)
{
	*graph = NULL;
	if (!stream || !stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	*graph = stream->capture;
	stream_leave_capture(*graph);
	return 0;
}
