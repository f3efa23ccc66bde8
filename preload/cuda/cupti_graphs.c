/* SPDX-License-Identifier: MIT */
/*
 * cupti_graphs.c - how much work is in each CUDA graph that can be launched.
 *
 * All work of a graph has the correlation of its launch, and comes in any
 * number of records: whether the last one is there can only be known from the
 * graph itself.  CUPTI calls back for each node that is made, on the thread
 * that makes it, and for each graph that becomes executable.  Nodes are counted
 * by the graph's handle; a launch's records have the id of the executable.
 *
 * A graph with another graph inside, or with a condition, is not counted: it
 * runs as much as it happens to.  Nor is one any more of which the program has
 * switched a node off: that takes the executable and a node, and says not of
 * what type that is.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "preload/cuda/cupti_graph_memory.h"
#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_pinned.h"

#define GRAPHS	  16384u
#define UNCOUNTED 0x40000000u

/* By the handle; of two that share a place the later one has it. */
static struct {
	_Atomic uintptr_t graph;
	_Atomic uint32_t kernels;
	_Atomic uint32_t work;
} graphs[GRAPHS];

static size_t place_of(CUgraph graph)
{
	/* Handles lie any power of two apart. */
	return ((uintptr_t)graph * UINT64_C(0x9e3779b97f4a7c15) >> 32) % GRAPHS;
}

static void begin(CUgraph graph)
{
	const size_t at = place_of(graph);

	store_relaxed(&graphs[at].graph, (uintptr_t)graph);
	store_relaxed(&graphs[at].kernels, 0);
	store_relaxed(&graphs[at].work, 0);
	cupti_graph_memory_begins(graph);
}

static void count(const CUpti_GraphData *data, uint32_t one)
{
	const size_t at = place_of(data->graph);

	if (load_relaxed(&graphs[at].graph) != (uintptr_t)data->graph)
		return;
	switch (data->nodeType) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		add_relaxed(&graphs[at].kernels, one);
		add_relaxed(&graphs[at].work, one);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
		add_relaxed(&graphs[at].work, one);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
	case CU_GRAPH_NODE_TYPE_EMPTY:
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE: break;
	default: add_relaxed(&graphs[at].work, UNCOUNTED); break;
	}
}

static uint32_t work_of(CUgraph graph, uint32_t *kernels)
{
	const size_t at = place_of(graph);
	uint32_t work;

	if (!graph || load_relaxed(&graphs[at].graph) != (uintptr_t)graph)
		return 0;
	work = load_relaxed(&graphs[at].work);
	*kernels = load_relaxed(&graphs[at].kernels);
	return work < UNCOUNTED ? work : 0;
}

static void tell(const CUpti_GraphData *data)
{
	struct session *session = load_relaxed(&session_here);
	uint32_t id = 0, kernels = 0, work = work_of(data->graph, &kernels);
	struct gpu_graph *known;

	if (!work)
		work = work_of(data->originalGraph, &kernels);
	if (!session || !cupti.cuptiGetGraphExecId ||
	    cupti.cuptiGetGraphExecId(data->graphExec, &id) != CUPTI_SUCCESS)
		return;
	known = &session->head->gpu.graph[id % GPU_GRAPHS_MAX];
	store_relaxed(&known->kernels, work ? kernels : 0);
	store_relaxed(&known->work, work);
	store_relaxed(&known->id, id);
	cupti_graph_memory_tell(data->graph, id);
	if (data->originalGraph != data->graph)
		cupti_graph_memory_tell(data->originalGraph, id);
}

static void executable_ends(const CUpti_GraphData *data)
{
	uint32_t id = 0;

	if (cupti.cuptiGetGraphExecId &&
	    cupti.cuptiGetGraphExecId(data->graphExec, &id) == CUPTI_SUCCESS)
		cupti_graph_memory_ends(id);
}

void cupti_graphs_start(void *subscriber)
{
	cupti_memory_call_on(
		subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
		CUPTI_RUNTIME_TRACE_CBID_cudaGraphNodeSetEnabled_v11060,
		CUPTI_NODE_SWITCHED);
	cupti_memory_call_on(subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
			     CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled,
			     CUPTI_NODE_SWITCHED);
}

/* From its next launch on it has another number of kernels. */
void cupti_graphs_call(const void *data)
{
	const CUpti_CallbackData *about = data;
	struct session *session = load_relaxed(&session_here);
	/* How the parameters of both begin. */
	const CUgraphExec *executable = about->functionParams;
	struct gpu_graph *known;
	uint32_t id = 0;

	if (about->callbackSite != CUPTI_API_ENTER || !executable || !session ||
	    !cupti.cuptiGetGraphExecId ||
	    cupti.cuptiGetGraphExecId(*executable, &id) != CUPTI_SUCCESS)
		return;
	known = &session->head->gpu.graph[id % GPU_GRAPHS_MAX];
	if (load_relaxed(&known->id) != id)
		return;
	store_relaxed(&known->kernels, 0);
	store_relaxed(&known->work, 0);
}

void cupti_graphs_called(uint32_t number, const void *arg)
{
	const CUpti_ResourceData *about = arg;
	const CUpti_GraphData *data = about->resourceDescriptor;

	if (!data)
		return;
	switch (number) {
	case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
	case CUPTI_CBID_RESOURCE_GRAPH_CLONED: begin(data->graph); break;
	case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
		cupti_graph_memory_begins(data->graph);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
		executable_ends(data);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
		cupti_graph_memory_node(data);
		/* fallthrough */
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED: count(data, 1); break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
		count(data, (uint32_t)-1);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: tell(data); break;
	default: break;
	}
}

#endif
