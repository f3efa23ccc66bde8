/* SPDX-License-Identifier: MIT */
/*
 * cupti_graph_memory.c - device memory of graphs; see cupti_graph_memory.h.
 *
 * Callbacks leave nodes in a table, by their graph's handle, and once more by
 * the id that the work of its launches has.  Places of graphs that are gone are
 * taken again, after all others: their records may still be on the way.  So a
 * reader looks at a place's key before and after it reads, and counts what it
 * found: a launch whose nodes are not all there any more is said.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_graph_memory.h"
#include "preload/cuda/cupti_source.h"

#include "collector/system/log.h"
#include <string.h>
#include <time.h>

#define NODES  4096u
#define GRAPHS 1024u
#define CALLS  4096u
/* Keys: a graph's handle, or its id with the first of these. */
#define OF_ID  (UINT64_C(1) << 63)
#define GONE   (UINT64_C(1) << 62)
#define BUSY   (GONE - 1)

/* So long a call may take to return, once its record is there. */
enum { RETURN_MOST_MS = 1000 };

struct op {
	uint64_t order, address, bytes; /* 0 bytes: it frees */
};

static struct {
	_Atomic uint64_t key; /* 0 free */
	_Atomic uint64_t order, address, bytes;
} nodes[NODES];
static _Atomic uint32_t cursor;
static _Atomic uint64_t orders;
static _Atomic bool is_short;

/* By id: the graph has so many such nodes. */
static struct {
	_Atomic uint32_t id;
	_Atomic uint32_t count;
} known[GRAPHS];
/* The graph that this thread's call has just given a node. */
static _Thread_local CUgraph adding;
/* By number: calls that have not returned, and calls that made a node. */
static _Atomic uint32_t under_way[CALLS];
static _Atomic uint32_t made_node[CALLS];

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId number;
	enum cupti_memory_call call;
} calls[] = {
/* clang-format off */
#define RUNTIME(name) CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name
#define DRIVER(name) CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name
	{RUNTIME(cudaGraphAddMemAllocNode_v11040), CUPTI_ALLOC_NODE},
	{RUNTIME(cudaGraphAddMemFreeNode_v11040), CUPTI_FREE_NODE},
	{RUNTIME(cudaMallocAsync_v11020), CUPTI_ALLOC},
	{RUNTIME(cudaMallocAsync_ptsz_v11020), CUPTI_ALLOC},
	{RUNTIME(cudaMallocFromPoolAsync_v11020), CUPTI_ALLOC},
	{RUNTIME(cudaMallocFromPoolAsync_ptsz_v11020), CUPTI_ALLOC},
	{RUNTIME(cudaFreeAsync_v11020), CUPTI_FREE},
	{RUNTIME(cudaFreeAsync_ptsz_v11020), CUPTI_FREE},
	{DRIVER(cuGraphAddMemAllocNode), CUPTI_ALLOC_NODE},
	{DRIVER(cuGraphAddMemFreeNode), CUPTI_FREE_NODE},
	{DRIVER(cuMemAllocAsync), CUPTI_ALLOC},
	{DRIVER(cuMemAllocAsync_ptsz), CUPTI_ALLOC},
	{DRIVER(cuMemAllocFromPoolAsync), CUPTI_ALLOC},
	{DRIVER(cuMemAllocFromPoolAsync_ptsz), CUPTI_ALLOC},
	{DRIVER(cuMemFreeAsync), CUPTI_FREE},
	{DRIVER(cuMemFreeAsync_ptsz), CUPTI_FREE},
	/* 12.2, and 12.3 on */
	{CUPTI_CB_DOMAIN_RUNTIME_API, 445, CUPTI_ANY_NODE},
	{CUPTI_CB_DOMAIN_DRIVER_API, 712, CUPTI_ANY_NODE},
	{CUPTI_CB_DOMAIN_RUNTIME_API, 460, CUPTI_ANY_NODE_2},
	{CUPTI_CB_DOMAIN_DRIVER_API, 723, CUPTI_ANY_NODE_2},
	/* clang-format on */
};

void cupti_graph_memory_start(void *subscriber)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		cupti_memory_call_on(subscriber, calls[i].domain,
				     calls[i].number, calls[i].call);
}

/* --- nodes, in callbacks -------------------------------------------------- */

static void say_short(void)
{
	if (!atomic_exchange_explicit(&is_short, true, memory_order_relaxed))
		session_note(load_relaxed(&session_here),
			     "memory of CUDA graphs is not complete: too many "
			     "nodes, or of an unknown call");
}

static void add(uint64_t key, struct op op)
{
	const uint32_t start = add_relaxed(&cursor, 1);

	for (uint32_t i = 0; i < 2 * NODES; i++) {
		const uint32_t at = (start + i) % NODES;
		uint64_t was = load_relaxed(&nodes[at].key);

		if (was && (i < NODES || !(was & OF_ID) || !(was & GONE)))
			continue;
		if (!atomic_compare_exchange_strong_explicit(
			    &nodes[at].key, &was, BUSY, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		/* RELEASE pairs with ACQUIRE in read_node(): who finds any of
		 * this finds that the place is not what it was. */
		atomic_thread_fence(memory_order_release);
		store_relaxed(&nodes[at].order, op.order);
		store_relaxed(&nodes[at].address, op.address);
		store_relaxed(&nodes[at].bytes, op.bytes);
		/* RELEASE pairs with ACQUIRE in read_node(): the node. */
		store_release(&nodes[at].key, key);
		return;
	}
	say_short();
}

/* False: it is none of this graph's, or not any more. */
static bool read_node(uint32_t at, uint64_t key, struct op *op)
{
	/* ACQUIRE pairs with RELEASE in add(): the node. */
	if ((load_acquire(&nodes[at].key) & ~GONE) != key)
		return false;
	op->order = load_relaxed(&nodes[at].order);
	op->address = load_relaxed(&nodes[at].address);
	op->bytes = load_relaxed(&nodes[at].bytes);
	/* ACQUIRE pairs with RELEASE in add(): the place was taken again. */
	atomic_thread_fence(memory_order_acquire);
	return (load_relaxed(&nodes[at].key) & ~GONE) == key;
}

void cupti_graph_memory_begins(CUgraph graph)
{
	for (uint32_t i = 0; graph && i < NODES; i++) {
		if (load_relaxed(&nodes[i].key) == (uintptr_t)graph)
			store_relaxed(&nodes[i].key, 0);
	}
}

void cupti_graph_memory_ends(uint32_t id)
{
	uint64_t key = OF_ID | id;

	if (load_relaxed(&known[id % GRAPHS].id) != id)
		return;
	for (uint32_t i = 0; i < NODES; i++, key = OF_ID | id)
		atomic_compare_exchange_strong_explicit(
			&nodes[i].key, &key, OF_ID | GONE | id,
			memory_order_relaxed, memory_order_relaxed);
}

/* The place by its id, which another graph may have that is still there. */
static void take_place(uint32_t id)
{
	const uint32_t was = load_relaxed(&known[id % GRAPHS].id);

	if (was == id)
		return;
	for (uint32_t i = 0; was && i < NODES; i++) {
		if (load_relaxed(&nodes[i].key) != (OF_ID | was))
			continue;
		say_short();
		break;
	}
	store_relaxed(&known[id % GRAPHS].count, 0);
	store_relaxed(&known[id % GRAPHS].id, id);
}

void cupti_graph_memory_tell(CUgraph graph, uint32_t id)
{
	struct op op;

	for (uint32_t i = 0; graph && i < NODES; i++) {
		if (!read_node(i, (uintptr_t)graph, &op))
			continue;
		take_place(id);
		add_relaxed(&known[id % GRAPHS].count, 1);
		add(OF_ID | id, op);
	}
}

void cupti_graph_memory_node(CUgraph graph, CUgraphNodeType type)
{
	if (type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
	    type != CU_GRAPH_NODE_TYPE_MEM_FREE)
		return;
	if (adding)
		say_short();
	adding = graph;
}

/* The parameters of all calls of a sort begin alike, the runtime's and the
 * driver's. */
union parameters {
	const cuGraphAddMemAllocNode_params *alloc_node;
	const cuGraphAddMemFreeNode_params *free_node;
	const cuMemAllocAsync_params *alloc;
	const cuMemFreeAsync_params *free;
	const cuGraphAddNode_params *any;
	const cuGraphAddNode_v2_params *any_2;
	const void *all;
};

static struct op op_of_node(const CUgraphNodeParams *node)
{
	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return (struct op){.address = node->alloc.dptr,
				   .bytes = node->alloc.bytesize};
	return (struct op){.address = node->free.dptr};
}

static struct op op_of(enum cupti_memory_call call, union parameters of)
{
	switch (call) {
	case CUPTI_ALLOC_NODE:
		return (struct op){.address = of.alloc_node->nodeParams->dptr,
				   .bytes =
					   of.alloc_node->nodeParams->bytesize};
	case CUPTI_FREE_NODE: return (struct op){.address = of.free_node->dptr};
	case CUPTI_ANY_NODE: return op_of_node(of.any->nodeParams);
	case CUPTI_ANY_NODE_2: return op_of_node(of.any_2->nodeParams);
	case CUPTI_ALLOC:
		return (struct op){.address = *of.alloc->dptr,
				   .bytes = of.alloc->bytesize};
	default: return (struct op){.address = of.free->dptr};
	}
}

void cupti_graph_memory_call(enum cupti_memory_call call,
			     const CUpti_CallbackData *data)
{
	const union parameters of = {.all = data->functionParams};
	const int *result = data->functionReturnValue;
	const uint32_t number = data->correlationId;
	const CUgraph graph = adding;
	struct op op;

	if (data->callbackSite != CUPTI_API_EXIT) {
		store_relaxed(&under_way[number % CALLS], number);
		return;
	}
	/* The runtime's call around the driver's finds it done. */
	adding = NULL;
	if (graph && of.all && result && !*result) {
		op = op_of(call, of);
		op.order = add_relaxed(&orders, 1);
		store_relaxed(&made_node[number % CALLS], number);
		add((uintptr_t)graph, op);
	}
	/* RELEASE pairs with ACQUIRE in has_made_node(): that it made one. */
	store_release(&under_way[number % CALLS], 0);
}

/* --- launches, on the writer's thread ------------------------------------- */

static struct run {
	uint32_t id;
	bool owes; /* what it frees after its last allocation */
	uint64_t correlation;
} runs[GRAPHS];

static struct block {
	uint64_t address, bytes;
	uint32_t id;
} blocks[NODES];
static uint32_t block_count;

static struct event made[NODES];
static uint32_t made_first, made_count;

static struct op ops[NODES];

/* They are in order but for where the table was begun again. */
static void sort(uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct op op = ops[i];
		uint32_t at = i;

		for (; at && ops[at - 1].order > op.order; at--)
			ops[at] = ops[at - 1];
		ops[at] = op;
	}
}

/* All of that graph, into `ops`. */
static uint32_t ops_of(uint32_t id)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < NODES; i++)
		count += read_node(i, OF_ID | id, &ops[count]);
	if (count < load_relaxed(&known[id % GRAPHS].count))
		say_short();
	sort(count);
	return count;
}

static void make(const struct event *work, uint64_t ticks, uint64_t address,
		 uint64_t bytes, bool is_free)
{
	if (made_count == NODES) {
		say_short();
		return;
	}
	made[(made_first + made_count) % NODES] = (struct event){
		.kind = EVENT_GPU_MEMORY,
		.extra = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		.start_ticks = ticks,
		.end_ticks = ticks,
		.memory = {.correlation = work->gpu.correlation,
			   .address = address,
			   .size_bytes = bytes,
			   .device = work->gpu.device,
			   .is_free = is_free},
	};
	made_count++;
}

/* False: no graph holds it. */
static bool drop_block(uint64_t address, struct block *dropped)
{
	for (uint32_t i = 0; i < block_count; i++) {
		if (blocks[i].address != address)
			continue;
		*dropped = blocks[i];
		blocks[i] = blocks[--block_count];
		return true;
	}
	return false;
}

static void frees(const struct event *work, uint64_t ticks, uint64_t address)
{
	struct block block;

	if (drop_block(address, &block))
		make(work, ticks, address, block.bytes, true);
}

static void run_op(const struct event *work, uint64_t ticks,
		   const struct op *op)
{
	/* What the launch before has left may be allocated again. */
	frees(work, ticks, op->address);
	if (!op->bytes)
		return;
	make(work, ticks, op->address, op->bytes, false);
	if (block_count == NODES) {
		say_short();
		return;
	}
	blocks[block_count++] =
		(struct block){op->address, op->bytes, work->gpu.graph};
}

/* Frees that no allocation follows are the launch's last. */
static void run_ops(const struct event *work, uint64_t ticks, bool at_end)
{
	const uint32_t count = ops_of(work->gpu.graph);
	uint32_t last = count;

	while (last && !ops[last - 1].bytes)
		last--;
	/* They are drawn in the order of time, and a launch may begin in the
	 * tick in which the one before it ends. */
	for (uint32_t i = at_end ? last : 0; i < (at_end ? count : last); i++)
		run_op(work, at_end ? ticks - (count - i) : ticks + i, &ops[i]);
}

void cupti_graph_memory_work(const struct event *work, bool is_last)
{
	const uint32_t id = work->gpu.graph;
	struct run *run = &runs[id % GRAPHS];

	if (!id || load_relaxed(&known[id % GRAPHS].id) != id)
		return;
	if (run->id != id)
		*run = (struct run){.id = id};
	if (work->gpu.correlation < run->correlation)
		return;
	if (work->gpu.correlation > run->correlation) {
		if (run->owes)
			run_ops(work, work->start_ticks, true);
		run->correlation = work->gpu.correlation;
		run->owes = true;
		run_ops(work, work->start_ticks, false);
	}
	if (!is_last || !run->owes)
		return;
	run->owes = false;
	run_ops(work, work->end_ticks, true);
}

/* Only at its end a call is known to have made one, and its record may be here
 * before: the program's thread waits for a processor. */
static bool has_made_node(uint32_t number)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	/* ACQUIRE pairs with RELEASE in cupti_graph_memory_call(). */
	for (int i = 0; i < RETURN_MOST_MS &&
			load_acquire(&under_way[number % CALLS]) == number;
	     i++)
		nanosleep(&ms, NULL);
	return load_relaxed(&made_node[number % CALLS]) == number;
}

bool cupti_graph_memory_counts(const struct event *event)
{
	const uint32_t number = (uint32_t)event->memory.correlation;
	struct block dropped;

	if (number && has_made_node(number))
		return false;
	/* The program frees outside what a graph has allocated. */
	if (event->memory.is_free)
		drop_block(event->memory.address, &dropped);
	return true;
}

bool cupti_graph_memory_next(struct event *event)
{
	if (!made_count)
		return false;
	*event = made[made_first];
	made_first = (made_first + 1) % NODES;
	made_count--;
	return true;
}

void cupti_graph_memory_forget(void)
{
	memset(known, 0, sizeof(known));
	store_relaxed(&is_short, false);
	memset(runs, 0, sizeof(runs));
	block_count = made_count = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		if (load_relaxed(&nodes[i].key))
			store_relaxed(&nodes[i].key, 0);
	}
}

#endif
