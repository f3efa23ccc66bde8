/* SPDX-License-Identifier: MIT */
/*
 * sim_side.c - records of what lies beside the work.
 */
#include "tests/fake_gpu/sim_side.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_cupti.h"
#include "tests/fake_gpu/sim_life.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNTER(word) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##word
#define CAUSE(word)   CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_##word

enum { MIGRATION_NS = 20000, PAGE_BYTES = 4096, CACHED_BYTES = 4711 };

_Static_assert(sizeof(struct side_host_node) == 56, "as in 13.1");
_Static_assert(sizeof(struct side_host_launch) == 48, "as in 13.1");

static struct sim_pool device_pool;

static void record_pool(const struct sim_pool *pool,
			CUpti_ActivityMemoryPoolOperationType operation,
			size_t keep)
{
	const CUpti_ActivityMemoryPool3 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
		.memoryPoolOperationType = operation,
		.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
		.correlationId = sim_call_correlation(),
		.processId = (uint32_t)getpid(),
		.deviceId = life_device(),
		.minBytesToKeep = keep,
		.address = (uint64_t)(uintptr_t)pool,
		.size = pool->size,
		.releaseThreshold = pool->threshold,
		.timestamp = clock_client_now(),
		.utilizedSize = pool->used,
	};

	activity_emit(&record);
}

struct sim_pool *pool_default(void)
{
	return &device_pool;
}

struct sim_pool *pool_new(void)
{
	struct sim_pool *pool = calloc(1, sizeof(*pool));

	record_pool(pool, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, 0);
	return pool;
}

void pool_free(struct sim_pool *pool)
{
	record_pool(pool, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED,
		    0);
	if (pool != &device_pool)
		free(pool);
}

void pool_trim(struct sim_pool *pool, size_t keep)
{
	if (pool->size > keep)
		pool->size = keep > pool->used ? keep : pool->used;
	record_pool(pool, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED,
		    keep);
}

void pool_take(struct sim_pool *pool, int64_t bytes)
{
	pool->used += (size_t)bytes;
	if (pool->used > pool->size)
		pool->size = pool->used;
	else if (bytes < 0 && pool->size > pool->threshold)
		pool->size = pool->used > pool->threshold ? pool->used
							  : pool->threshold;
}

static void record_unified(CUpti_ActivityUnifiedMemoryCounter3 record)
{
	record.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
	record.processId = (uint32_t)getpid();
	activity_emit(&record);
}

void side_migrate(const void *address, size_t bytes, int to_gpu, int asked)
{
	CUpti_ActivityUnifiedMemoryCounter3 record = {
		.address = (uint64_t)(uintptr_t)address,
		.start = clock_client_now(),
	};

	if (!sim_cupti.unified_memory)
		return;
	clock_sleep_until(clock_device_now() + MIGRATION_NS);
	record.end = clock_client_now();
	if (!asked && to_gpu) {
		record.counterKind = COUNTER(GPU_PAGE_FAULT);
		record.value = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
		record.srcId = life_device();
		record.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE;
		record_unified(record);
	} else if (!asked) {
		record.counterKind = COUNTER(CPU_PAGE_FAULT_COUNT);
		record.value = (uint64_t)(uintptr_t)side_migrate;
		record.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ;
		record_unified(record);
	}
	record.counterKind = to_gpu ? COUNTER(BYTES_TRANSFER_HTOD)
				    : COUNTER(BYTES_TRANSFER_DTOH);
	record.value = bytes;
	record.srcId = record.dstId = life_device();
	record.flags = asked ? CAUSE(USER) : CAUSE(COHERENCE);
	record_unified(record);
}

void side_compiled(const char *image, uint64_t start, uint64_t end)
{
	CUpti_ActivityJit2 record = {
		.kind = CUPTI_ACTIVITY_KIND_JIT,
		.jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN,
		.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE,
		.deviceId = life_device(),
		.start = start,
		.end = end,
		.correlationId = sim_call_correlation(),
		.processId = (uint32_t)getpid(),
		.threadId = activity_thread_id(),
	};

	/* What is no text was compiled before. */
	if (!image || strncmp(image, ".version", 8) != 0)
		return;
	activity_emit(&record);
	record.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE;
	record.start = end;
	record.end = clock_client_now();
	record.cacheSize = CACHED_BYTES;
	record.cachePath = "/home/user/.nv/ComputeCache/0/a/simulated";
	activity_emit(&record);
}

void side_call_host(void (*function)(void *), void *argument, uint32_t stream,
		    uint32_t graph, uint64_t node)
{
	struct side_host_node record = {
		.kind = KIND_GRAPH_HOST_NODE,
		.stream = stream,
		.context = life_context_id(),
		.device = life_device(),
		.correlation = sim_call_correlation(),
		.graph = graph,
		.node = node,
		.process = (uint32_t)getpid(),
		.thread = activity_thread_id(),
		.start = clock_client_now(),
	};
	struct side_host_launch launch;

	function(argument);
	record.end = clock_client_now();
	if (node) {
		activity_emit(&record);
		return;
	}
	launch = (struct side_host_launch){
		.kind = KIND_HOST_LAUNCH,
		.stream = stream,
		.context = life_context_id(),
		.device = life_device(),
		.correlation = record.correlation,
		.process = record.process,
		.thread = record.thread,
		.start = record.start,
		.end = record.end,
	};
	activity_emit(&launch);
}
