/* SPDX-License-Identifier: MIT */
/*
 * sim_memory.c - a table of address ranges.
 */
#include "tests/fake_gpu/sim_memory.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_side.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct range {
	struct range *next;
	char *start;
	size_t size;
	CUpti_ActivityMemoryKind kind;
	struct sim_pool *pool;
	int on_gpu;  /* managed memory, now */
	int foreign; /* the program's own memory, only pinned */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static size_t on_device;

static int takes_device_memory(CUpti_ActivityMemoryKind kind)
{
	return kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

static void record(const struct range *range,
		   CUpti_ActivityMemoryOperationType operation, uint32_t stream)
{
	CUpti_ActivityMemory4 memory = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = operation,
		.memoryKind = range->kind,
		.correlationId = sim_call_correlation(),
		.address = (uint64_t)(uintptr_t)range->start,
		.bytes = range->size,
		.timestamp = clock_client_now(),
		.processId = (uint32_t)getpid(),
		.deviceId = life_device(),
		.contextId = life_context_id(),
		.streamId = stream,
		.isAsync = stream != 0,
	};

	if (range->pool) {
		memory.memoryPoolConfig.memoryPoolType =
			CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
		memory.memoryPoolConfig.address =
			(uint64_t)(uintptr_t)range->pool;
		memory.memoryPoolConfig.releaseThreshold =
			range->pool->threshold;
		memory.memoryPoolConfig.pool.size = range->pool->size;
		memory.memoryPoolConfig.utilizedSize = range->pool->used;
	}
	activity_emit(&memory);
}

static void add(struct range *range)
{
	pthread_mutex_lock(&lock);
	range->next = ranges;
	ranges = range;
	if (takes_device_memory(range->kind))
		on_device += range->size;
	pthread_mutex_unlock(&lock);
}

int memory_new(void **address, size_t size, CUpti_ActivityMemoryKind kind,
	       uint32_t stream)
{
	return memory_new_in(NULL, address, size, kind, stream);
}

static int make(struct sim_pool *pool, void **address, size_t size,
		CUpti_ActivityMemoryKind kind, uint32_t stream, int silent)
{
	if (!address)
		return CUDA_ERROR_INVALID_VALUE;
	*address = NULL;
	if (size == 0)
		return 0;
	if (takes_device_memory(kind) &&
	    (size > DEVICE_MEMORY_BYTES ||
	     memory_in_use() + size > DEVICE_MEMORY_BYTES))
		return CUDA_ERROR_OUT_OF_MEMORY;

	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct range *range = calloc(1, sizeof(*range));
	if (start == MAP_FAILED || !range) {
		free(range);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	range->start = start;
	range->size = size;
	range->kind = kind;
	range->pool = pool;
	add(range);
	if (pool)
		pool_take(pool, (int64_t)size);
	if (!silent)
		record(range, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
		       stream);
	*address = start;
	return 0;
}

int memory_new_in(struct sim_pool *pool, void **address, size_t size,
		  CUpti_ActivityMemoryKind kind, uint32_t stream)
{
	return make(pool, address, size, kind, stream, 0);
}

int memory_new_captured(void **address, size_t size)
{
	return make(NULL, address, size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 0,
		    !sim_knobs()->captured_memory);
}

void memory_free_captured(void *address)
{
	pthread_mutex_lock(&lock);
	for (const struct range *r = ranges; r; r = r->next)
		if (r->start == address && sim_knobs()->captured_memory)
			record(r, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
			       0);
	pthread_mutex_unlock(&lock);
}

/* Takes the range that begins there out of the table. */
static struct range *take(const void *address, CUpti_ActivityMemoryKind kind,
			  int foreign)
{
	struct range *found = NULL;

	pthread_mutex_lock(&lock);
	for (struct range **r = &ranges; *r; r = &(*r)->next) {
		if ((*r)->start != address || (*r)->foreign != foreign)
			continue;
		if ((*r)->kind != kind &&
		    (*r)->kind != CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
			continue;
		found = *r;
		*r = found->next;
		if (takes_device_memory(found->kind))
			on_device -= found->size;
		break;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

int memory_free(void *address, CUpti_ActivityMemoryKind kind, uint32_t stream)
{
	if (!address)
		return 0;

	struct range *range = take(address, kind, 0);
	if (!range)
		return CUDA_ERROR_INVALID_VALUE;
	if (range->pool)
		pool_take(range->pool, -(int64_t)range->size);
	record(range, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, stream);
	munmap(range->start, range->size);
	free(range);
	return 0;
}

int memory_pin(void *address, size_t size)
{
	struct range *range = calloc(1, sizeof(*range));

	if (!range || !address || !size) {
		free(range);
		return CUDA_ERROR_INVALID_VALUE;
	}
	range->start = address;
	range->size = size;
	range->kind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	range->foreign = 1;
	add(range);
	return 0;
}

int memory_unpin(void *address)
{
	struct range *range =
		take(address, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 1);

	if (!range)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	free(range);
	return 0;
}

CUpti_ActivityMemoryKind memory_kind(const void *address)
{
	CUpti_ActivityMemoryKind kind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
	const char *at = address;

	pthread_mutex_lock(&lock);
	for (const struct range *r = ranges; r; r = r->next)
		if (at >= r->start && at < r->start + r->size) {
			kind = r->kind;
			break;
		}
	pthread_mutex_unlock(&lock);
	return kind;
}

size_t memory_in_use(void)
{
	pthread_mutex_lock(&lock);
	const size_t bytes = on_device;
	pthread_mutex_unlock(&lock);
	return bytes;
}

void memory_move_managed(int to_gpu, int asked)
{
	pthread_mutex_lock(&lock);
	for (struct range *r = ranges; r; r = r->next) {
		if (r->kind != CUPTI_ACTIVITY_MEMORY_KIND_MANAGED ||
		    r->on_gpu == to_gpu)
			continue;
		r->on_gpu = to_gpu;
		side_migrate(r->start, r->size, to_gpu, asked);
	}
	pthread_mutex_unlock(&lock);
}
