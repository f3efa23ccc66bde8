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
 * A node's type is told when it begins to be made, and is 0, which is a
 * kernel's, once it is there and when it goes (13.0 on an H100, 580.159).
 *
 * A graph with another graph inside, or with a condition, is not counted: it
 * runs as much as it happens to.  Nor is one any more of which the program has
 * taken a node away, or switched one off: neither says of what type that was.
 *
 * Of a graph without any work for the GPU no record tells, so that its launches
 * would be waited for.  From the first such graph on launches of graphs are
 * called back for, and those of it are known by their correlation.  The helper
 * turns that on while the first one's making waits a little.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/system/clock.h"
#include "collector/system/futex.h"
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

/* The node that this thread begins to make. */
static _Thread_local struct {
	CUgraphNode node;
	CUgraphNodeType type;
} beginning;

/* Executables without work, by id; and their launches whose records are to
 * come, by correlation: its 32 bits above a 1. */
#define LAUNCHED 16384u
static _Atomic uint32_t empty[GPU_GRAPHS_MAX];
static _Atomic uint64_t launched[LAUNCHED];
static _Atomic uint32_t are_launches_wanted, are_launches_on;

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId number;
} launches[] = {
	/* clang-format off */
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz},
	/* clang-format on */
};

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

static void node_begins(const CUpti_GraphData *data)
{
	beginning.node = data->node;
	beginning.type = data->nodeType;
}

static CUgraphNodeType type_of(const CUpti_GraphData *data)
{
	return !data->nodeType && beginning.node == data->node ? beginning.type
							       : data->nodeType;
}

/* What it holds is not known. */
static void uncount(const CUpti_GraphData *data)
{
	const size_t at = place_of(data->graph);

	if (load_relaxed(&graphs[at].graph) == (uintptr_t)data->graph &&
	    load_relaxed(&graphs[at].work) < UNCOUNTED)
		add_relaxed(&graphs[at].work, UNCOUNTED);
}

static void count(const CUpti_GraphData *data)
{
	const size_t at = place_of(data->graph);

	if (load_relaxed(&graphs[at].graph) != (uintptr_t)data->graph)
		return;
	switch (type_of(data)) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		add_relaxed(&graphs[at].kernels, 1);
		add_relaxed(&graphs[at].work, 1);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET: add_relaxed(&graphs[at].work, 1); break;
	case CU_GRAPH_NODE_TYPE_HOST:
	case CU_GRAPH_NODE_TYPE_EMPTY:
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE: break;
	default: uncount(data); break;
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

/* What it holds is known, and is nothing for the GPU. */
static bool is_empty(CUgraph graph)
{
	const size_t at = place_of(graph);

	return graph && load_relaxed(&graphs[at].graph) == (uintptr_t)graph &&
	       !load_relaxed(&graphs[at].work);
}

static void tell_of_empty(const CUpti_GraphData *data, uint32_t id)
{
	const struct session *session = load_relaxed(&session_here);

	/* Whole, it may have a record all the same. */
	if (session->head->options.graphs == GRAPHS_GRAPH ||
	    !is_empty(data->graph) ||
	    (data->originalGraph && data->originalGraph != data->graph &&
	     !is_empty(data->originalGraph)))
		return;
	store_relaxed(&empty[id % GPU_GRAPHS_MAX], id);
	/* What is launched before they are on counts as missing. */
	if (!atomic_exchange_explicit(&are_launches_wanted, 1,
				      memory_order_relaxed))
		cupti_flush_await(&are_launches_on, 0);
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
	tell_of_empty(data, id);
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
	store_relaxed(&are_launches_on, 0);
	cupti_graphs_turn(subscriber);
}

void cupti_graphs_turn(void *subscriber)
{
	if (load_relaxed(&are_launches_wanted) ==
	    load_relaxed(&are_launches_on))
		return;
	for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++)
		cupti_memory_call_on(subscriber, launches[i].domain,
				     launches[i].number, CUPTI_GRAPH_LAUNCHED);
	store_relaxed(&are_launches_on, 1);
	futex_wake(&are_launches_on);
}

/* From its next launch on it has another number of kernels. */
static void node_switched(struct session *session, uint32_t id)
{
	struct gpu_graph *known =
		&session->head->gpu.graph[id % GPU_GRAPHS_MAX];

	if (load_relaxed(&known->id) != id)
		return;
	store_relaxed(&known->kernels, 0);
	store_relaxed(&known->work, 0);
}

void cupti_graphs_call(enum cupti_memory_call call, const void *data)
{
	const CUpti_CallbackData *about = data;
	struct session *session = load_relaxed(&session_here);
	/* How the parameters of all of them begin. */
	const CUgraphExec *executable = about->functionParams;
	uint32_t id = 0;

	if (about->callbackSite != CUPTI_API_ENTER || !executable || !session ||
	    !cupti.cuptiGetGraphExecId ||
	    cupti.cuptiGetGraphExecId(*executable, &id) != CUPTI_SUCCESS)
		return;
	if (call == CUPTI_NODE_SWITCHED)
		node_switched(session, id);
	else if (id && load_relaxed(&empty[id % GPU_GRAPHS_MAX]) == id)
		store_relaxed(&launched[about->correlationId % LAUNCHED],
			      (uint64_t)about->correlationId << 32 | 1);
}

bool cupti_graphs_ran_nothing(uint64_t correlation)
{
	const uint32_t number = (uint32_t)correlation;

	return load_relaxed(&launched[number % LAUNCHED]) ==
	       ((uint64_t)number << 32 | 1);
}

void cupti_graphs_forget(void)
{
	if (!load_relaxed(&are_launches_wanted))
		return;
	store_relaxed(&are_launches_wanted, 0);
	for (uint32_t i = 0; i < LAUNCHED; i++)
		store_relaxed(&launched[i], 0);
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
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING:
		node_begins(data);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
		cupti_graph_memory_node(data->graph, type_of(data));
		/* fallthrough */
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED: count(data); break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
		uncount(data);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: tell(data); break;
	default: break;
	}
}

#endif
