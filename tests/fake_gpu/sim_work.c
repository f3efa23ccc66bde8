/* SPDX-License-Identifier: MIT */
/*
 * sim_work.c - how long work takes, what it does, and its record.
 */
#include "tests/fake_gpu/sim_work.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_cupti.h"
#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_graph.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_memory.h"
#include "tests/fake_gpu/sim_side.h"
#include <string.h>

#define REGULAR	    CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR
#define COOPERATIVE CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE

enum {
	COPY_START_NS = 1500,
	PINNED_BYTES_PER_US = 50000,
	PAGEABLE_BYTES_PER_US = 10000,
	DEVICE_BYTES_PER_US = 2000000,
	THREADS_PER_NS = 64,
	LOADING_NS = 20000,
	COMPUTE_CHANNEL = 8,
	COPY_CHANNEL = 16,
};

__thread struct sim_shape work_shape;
struct sim_cupti sim_cupti = {.all_sync_records = 1};
static _Atomic int64_t last_grid;

static int on_device(const void *address)
{
	const CUpti_ActivityMemoryKind kind = memory_kind(address);

	return kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE ||
	       kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
}

static int pageable(const void *address)
{
	return memory_kind(address) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

static size_t all_bytes(const struct sim_work *work)
{
	return work->rows ? work->bytes * work->rows : work->bytes;
}

static int64_t duration(const struct sim_work *work)
{
	int64_t rate = PINNED_BYTES_PER_US, threads = 1;

	if (work->kind == WORK_HOST)
		return 0;
	if (work->kind == WORK_KERNEL) {
		for (int i = 0; i < 3; i++)
			threads *= (int64_t)work->grid[i] * work->block[i];
		return sim_knobs()->kernel_ns + threads / THREADS_PER_NS;
	}
	if (work->kind == WORK_SET ||
	    (on_device(work->to) && on_device(work->from)))
		rate = DEVICE_BYTES_PER_US;
	else if (pageable(work->to) || pageable(work->from))
		rate = PAGEABLE_BYTES_PER_US;
	return COPY_START_NS + (int64_t)all_bytes(work) * 1000 / rate;
}

static void set_memory(const struct sim_work *work)
{
	char *to = work->to;

	if (work->unit == 1) {
		memset(to, (int)work->value, work->bytes);
		return;
	}
	for (size_t at = 0; at < work->bytes; at += work->unit)
		memcpy(to + at, &work->value, work->unit);
}

static void copy_memory(const struct sim_work *work)
{
	char *to = work->to;
	const char *from = work->from;

	memmove(to, from, work->bytes);
	for (size_t row = 1; row < work->rows; row++)
		memmove(to + row * work->to_pitch,
			from + row * work->from_pitch, work->bytes);
}

/* All nodes but a graph's first are a loop's body. */
static int is_body(const struct sim_work *work)
{
	return sim_knobs()->body && work->graph &&
	       (uint32_t)work->graph_node > 1;
}

static uint32_t correlation_of(const struct sim_work *work)
{
	if (is_body(work))
		return 0;
	return work->graph ? activity_graph_correlation(sim_call_correlation())
			   : sim_call_correlation();
}

static void record_kernel(const struct sim_work *work, uint32_t stream,
			  int64_t start, int64_t end)
{
	const CUpti_ActivityKernel10 record = {
		.kind = activity_kernel_kind(),
		.registersPerThread = (uint16_t)work->kernel->registers,
		.deviceId = life_device(),
		.contextId = life_context_id(),
		.streamId = stream,
		.gridX = (int32_t)work->grid[0],
		.gridY = (int32_t)work->grid[1],
		.gridZ = (int32_t)work->grid[2],
		.blockX = (int32_t)work->block[0],
		.blockY = (int32_t)work->block[1],
		.blockZ = (int32_t)work->block[2],
		.dynamicSharedMemory = (int32_t)work->shared,
		.correlationId = correlation_of(work),
		.gridId = ++last_grid,
		.name = work->kernel->record_name,
		.queued = work->queued,
		.submitted = work->queued + (work->queued != 0),
		.launchType = work->shape.cooperative ? COOPERATIVE : REGULAR,
		.clusterX = work->shape.cluster[0],
		.clusterY = work->shape.cluster[1],
		.clusterZ = work->shape.cluster[2],
		.sharedMemoryExecuted =
			(uint32_t)work->shared + DEVICE_SHARED_RESERVED,
		.graphNodeId = work->graph_node,
		.graphId = work->graph,
		.channelID = COMPUTE_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	if (record.kind && !sim_knobs()->no_kernels)
		activity_emit_later(&record, stream, start, end);
}

static uint8_t copy_kind(const void *to, const void *from)
{
	static const uint8_t kinds[2][2] = {
		{CUPTI_ACTIVITY_MEMCPY_KIND_HTOH,
		 CUPTI_ACTIVITY_MEMCPY_KIND_HTOD},
		{CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
		 CUPTI_ACTIVITY_MEMCPY_KIND_DTOD},
	};

	return kinds[on_device(from)][on_device(to)];
}

static void record_peer_copy(const struct sim_work *work, uint32_t stream,
			     int64_t start, int64_t end)
{
	const CUpti_ActivityMemcpyPtoP4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
		.srcKind = (uint8_t)memory_kind(work->from),
		.dstKind = (uint8_t)memory_kind(work->to),
		.flags = work->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC
					    : 0,
		.bytes = all_bytes(work),
		.deviceId = life_device(),
		.contextId = life_context_id(),
		.streamId = stream,
		.srcDeviceId = (uint32_t)work->from_device,
		.srcContextId = 1 + (uint32_t)work->from_device,
		.dstDeviceId = (uint32_t)work->to_device,
		.dstContextId = 1 + (uint32_t)work->to_device,
		.correlationId = correlation_of(work),
		.graphNodeId = work->graph_node,
		.graphId = work->graph,
		.channelID = COPY_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
	};

	activity_emit_later(&record, stream, start, end);
}

static void record_copy(const struct sim_work *work, uint32_t stream,
			int64_t start, int64_t end)
{
	const CUpti_ActivityMemcpy6 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = copy_kind(work->to, work->from),
		.srcKind = (uint8_t)memory_kind(work->from),
		.dstKind = (uint8_t)memory_kind(work->to),
		.flags = work->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC
					    : 0,
		.bytes = all_bytes(work),
		.deviceId = life_device(),
		.contextId = life_context_id(),
		.streamId = stream,
		.correlationId = correlation_of(work),
		.graphNodeId = work->graph_node,
		.graphId = work->graph,
		.channelID = COPY_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
		.copyCount = 1,
	};

	if (record.copyKind != CUPTI_ACTIVITY_MEMCPY_KIND_HTOH)
		activity_emit_later(&record, stream, start, end);
}

static void record_set(const struct sim_work *work, uint32_t stream,
		       int64_t start, int64_t end)
{
	const CUpti_ActivityMemset4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.value = work->value,
		.bytes = all_bytes(work),
		.deviceId = life_device(),
		.contextId = life_context_id(),
		.streamId = stream,
		.correlationId = correlation_of(work),
		.flags = work->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC
					    : 0,
		.memoryKind = (uint16_t)memory_kind(work->to),
		.graphNodeId = work->graph_node,
		.graphId = work->graph,
		.channelID = COMPUTE_CHANNEL,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	activity_emit_later(&record, stream, start, end);
}

void work_run(struct sim_stream *stream, const struct sim_work *work,
	      int64_t *start, int64_t *end)
{
	stream_place(stream, work->kind == WORK_KERNEL, duration(work), start,
		     end);
	/* Memory of a graph is there as long as the graph, and on no record. */
	if (work->kind == WORK_ALLOC || work->kind == WORK_FREE)
		return;
	if (work->kind == WORK_COPY)
		copy_memory(work);
	else if (work->kind == WORK_SET)
		set_memory(work);
	if (work->kind == WORK_HOST) {
		clock_sleep_until(*start);
		side_call_host(work->function, work->argument, stream->id,
			       work->graph, work->graph_node);
		return;
	}
	if (work->kind == WORK_KERNEL)
		memory_move_managed(1, 0);
	if (work->silent)
		return;
	if (work->kind == WORK_KERNEL)
		record_kernel(work, stream->id, *start, *end);
	else if (work->kind == WORK_SET)
		record_set(work, stream->id, *start, *end);
	else if (work->peer)
		record_peer_copy(work, stream->id, *start, *end);
	else
		record_copy(work, stream->id, *start, *end);
}

static void driver_function(const struct sim_work *work, uint32_t *cbid,
			    const char **name)
{
	*cbid = CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync;
	*name = "cuMemcpyAsync";
	if (work->kind == WORK_KERNEL) {
		*cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
		*name = "cuLaunchKernel";
	} else if (work->kind == WORK_SET) {
		*cbid = CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async;
		*name = "cuMemsetD8Async";
	}
}

int work_put(struct sim_stream *stream, const struct sim_work *work)
{
	struct sim_call inner;
	const char *name;
	int64_t start, end;
	uint32_t cbid;

	if (stream->capture) {
		graph_add(stream->capture, work);
		return 0;
	}
	driver_function(work, &cbid, &name);
	sim_call_begin_inner(&inner, cbid, name);
	work_run(stream, work, &start, &end);
	sim_call_end_inner(&inner);
	/* What touches pageable memory cannot leave before it is done. */
	if (!work->asynchronous)
		clock_sleep_until(end);
	return 0;
}

int work_copy(struct sim_stream *stream, void *to, const void *from,
	      size_t bytes, int asynchronous)
{
	const struct sim_work work = {
		.kind = WORK_COPY,
		.to = to,
		.from = from,
		.bytes = bytes,
		.asynchronous = asynchronous,
	};

	if (!stream || ((!to || !from) && bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return bytes ? work_put(stream, &work) : 0;
}

int work_copy_rows(struct sim_stream *stream, void *to, size_t to_pitch,
		   const void *from, size_t from_pitch, size_t width,
		   size_t rows, int asynchronous)
{
	const struct sim_work work = {
		.kind = WORK_COPY,
		.to = to,
		.from = from,
		.bytes = width,
		.rows = rows,
		.to_pitch = to_pitch,
		.from_pitch = from_pitch,
		.asynchronous = asynchronous,
	};

	if (!stream || !to || !from || width > to_pitch || width > from_pitch)
		return CUDA_ERROR_INVALID_VALUE;
	return width && rows ? work_put(stream, &work) : 0;
}

int work_set(struct sim_stream *stream, void *to, uint32_t value, uint32_t unit,
	     size_t count, int asynchronous)
{
	const struct sim_work work = {
		.kind = WORK_SET,
		.to = to,
		.bytes = count * unit,
		.value = value,
		.unit = unit,
		.asynchronous = asynchronous,
	};

	if (!stream || (!to && count))
		return CUDA_ERROR_INVALID_VALUE;
	return count ? work_put(stream, &work) : 0;
}

static void load(struct sim_kernel *kernel)
{
	const uint64_t start = clock_client_now();

	if (kernel->loaded)
		return;
	kernel->loaded = 1;
	clock_sleep_until(clock_device_now() + LOADING_NS);
	activity_overhead(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, start,
			  clock_client_now(), sim_call_correlation());
}

int work_launch(struct sim_stream *stream, struct sim_kernel *kernel,
		const unsigned int grid[3], const unsigned int block[3],
		size_t shared)
{
	struct sim_work work = {
		.kind = WORK_KERNEL,
		.kernel = kernel,
		.shared = shared,
		.asynchronous = 1,
		.shape = work_shape,
		.queued = sim_cupti.latency_timestamps ? clock_client_now() : 0,
	};
	uint64_t threads = 1;

	work_shape = (struct sim_shape){{0}, 0};
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	for (int i = 0; i < 3; i++) {
		if (!grid[i] || !block[i])
			return cudaErrorInvalidConfiguration;
		work.grid[i] = grid[i];
		work.block[i] = block[i];
		threads *= block[i];
	}
	if (threads > DEVICE_THREADS_PER_BLOCK ||
	    shared > DEVICE_SHARED_PER_BLOCK_OPTIN)
		return cudaErrorInvalidConfiguration;
	load(kernel);
	return work_put(stream, &work);
}
