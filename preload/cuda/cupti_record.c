/* SPDX-License-Identifier: MIT */
/* cupti_record.c - decodes single records of CUPTI; see cupti_record.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_record.h"

#include "collector/system/clock.h"
#include "collector/session/names.h"
#include "preload/cuda/cupti_device.h"
#include "preload/cuda/cupti_name.h"
#include <string.h>

/* Every CUPTI from 12.0 on has these fields here. */
#define AT(record, field, at)                                                  \
	_Static_assert(offsetof(CUpti_Activity##record, field) == (at),        \
		       "CUPTI moved " #record "." #field)

AT(Kernel10, start, 16);
AT(Kernel10, deviceId, 40);
AT(Kernel10, gridX, 52);
AT(Kernel10, blockX, 64);
AT(Kernel10, staticSharedMemory, 76);
AT(Kernel10, correlationId, 92);
AT(Kernel10, name, 104);
AT(Kernel10, queued, 120);
AT(Kernel10, graphNodeId, 144);
AT(Kernel10, graphId, 156);
AT(Kernel10, channelID, 168);
AT(Memcpy6, copyKind, 4);
AT(Memcpy6, bytes, 8);
AT(Memcpy6, start, 16);
AT(Memcpy6, deviceId, 32);
AT(Memcpy6, correlationId, 44);
AT(Memcpy6, graphNodeId, 64);
AT(MemcpyPtoP4, srcDeviceId, 44);
AT(MemcpyPtoP4, correlationId, 60);
AT(MemcpyPtoP4, graphNodeId, 72);
AT(Memset4, bytes, 8);
AT(Memset4, correlationId, 44);
AT(Memset4, memoryKind, 50);
AT(Memset4, graphId, 72);
AT(API, start, 8);
AT(API, threadId, 28);
AT(API, correlationId, 32);
AT(Synchronization2, start, 8);
AT(Synchronization2, correlationId, 24);
AT(Synchronization2, cudaEventId, 36);
AT(Synchronization2, cudaEventSyncId, 40);
AT(CudaEvent2, correlationId, 4);
AT(CudaEvent2, streamId, 12);
AT(CudaEvent2, deviceTimestamp, 40);
AT(CudaEvent2, cudaEventSyncId, 48);
AT(Memory4, correlationId, 12);
AT(Memory4, timestamp, 32);
AT(Memory4, deviceId, 52);
AT(GraphTrace2, start, 8);
AT(GraphTrace2, streamId, 36);
AT(Overhead3, objectId, 12);
AT(Overhead3, start, 24);

/* How much of each record is read: what CUPTI 12.0 has of it. */
#define KERNEL_BYTES   176
#define COPY_BYTES     80
#define PEER_BYTES     88
#define FILL_BYTES     80
#define SYNC_BYTES     40
#define MARK_BYTES     24
#define OVERHEAD_BYTES 40
#define GRAPH_BYTES    40
#define MEMORY_BYTES   64
#define DEVICE_BYTES   144
#define CONTEXT_BYTES  16

/* cuptiGetVersion() of 12.8: from it on waits name the recording of an event
 * that they wait for, and records of events are longer. */
#define RECORDING_FROM 26u
#define RECORDED_BYTES 56

#define ROUND	       (UINT64_C(1) << 32)

/* The writer's thread alone. */
static struct {
	uint64_t last_correlation;
	uint32_t overhead_name[16];
} known;

const char **cupti_record_text(CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return (const char **)(void *)&(
			       (CUpti_ActivityKernel10 *)record)
			->name;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		return (const char **)(void *)&((CUpti_ActivityDevice5 *)record)
			->name;
	default: return NULL;
	}
}

static uint32_t text_id(const char *field)
{
	return (uint32_t)(uintptr_t)field;
}

/* CUPTI counts calls in 32 bits: of the numbers that a record may mean, the
 * nearest to the highest so far.  The first round is counted as the second one
 * and shown as the first, so that a record from before it has a number too. */
static uint64_t wide(uint32_t correlation)
{
	const uint64_t last = known.last_correlation;
	uint64_t id = ROUND + correlation;

	if (!correlation)
		return 0;
	if (last)
		id = last +
		     (uint64_t)(int64_t)(int32_t)(correlation - (uint32_t)last);
	if (id > last)
		known.last_correlation = id;
	return id >= ROUND ? id - ROUND : id;
}

static enum cupti_record kernel(const void *at, struct cupti_event *made)
{
	const CUpti_ActivityKernel10 *record = at;
	struct event *event = &made->event;

	*event = (struct event){
		.kind = EVENT_GPU_KERNEL,
		.flags = EVENT_TWO_SLOTS,
		.name = text_id(record->name),
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = wide(record->correlationId),
			.device = record->deviceId,
			.context = record->contextId,
			.stream = record->streamId,
			.graph = record->graphId,
			.graph_node = record->graphNodeId},
	};
	made->kernel = (struct gpu_kernel){
		.grid = {(uint32_t)record->gridX, (uint32_t)record->gridY,
			 (uint32_t)record->gridZ},
		.block = {(uint32_t)record->blockX, (uint32_t)record->blockY,
			  (uint32_t)record->blockZ},
		.static_bytes = (uint32_t)record->staticSharedMemory,
		.dynamic_bytes = (uint32_t)record->dynamicSharedMemory,
		.registers = record->registersPerThread,
		.channel = record->channelID,
		.channel_type = (uint32_t)record->channelType,
		.queued_ticks = record->queued,
	};
	cupti_device_note(record->contextId, record->deviceId);
	return CUPTI_RECORD_EVENT;
}

static enum cupti_record copy(const void *at, struct cupti_event *made)
{
	const CUpti_ActivityMemcpy6 *record = at;

	made->event = (struct event){
		.kind = EVENT_GPU_COPY,
		.flags = EVENT_TWO_SLOTS,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = wide(record->correlationId),
			.device = record->deviceId,
			.context = record->contextId,
			.stream = record->streamId,
			.graph = record->graphId,
			.bytes = record->bytes},
	};
	made->copy = (struct gpu_copy){
		.kind = record->copyKind,
		.source = record->srcKind,
		.destination = record->dstKind,
		.graph_node = record->graphNodeId,
		.channel = record->channelID,
	};
	cupti_device_note(record->contextId, record->deviceId);
	return CUPTI_RECORD_EVENT;
}

static enum cupti_record peer_copy(const void *at, struct cupti_event *made)
{
	const CUpti_ActivityMemcpyPtoP4 *record = at;

	made->event = (struct event){
		.kind = EVENT_GPU_COPY,
		.flags = EVENT_TWO_SLOTS,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = wide(record->correlationId),
			.device = record->deviceId,
			.context = record->contextId,
			.stream = record->streamId,
			.graph = record->graphId,
			.bytes = record->bytes},
	};
	made->copy = (struct gpu_copy){
		.kind = record->copyKind,
		.source = record->srcKind,
		.destination = record->dstKind,
		.is_peer = 1,
		.source_device = record->srcDeviceId,
		.source_context = record->srcContextId,
		.destination_device = record->dstDeviceId,
		.destination_context = record->dstContextId,
		.graph_node = record->graphNodeId,
	};
	return CUPTI_RECORD_EVENT;
}

static enum cupti_record fill(const void *at, struct cupti_event *made)
{
	const CUpti_ActivityMemset4 *record = at;

	made->event = (struct event){
		.kind = EVENT_GPU_FILL,
		.extra = record->memoryKind,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = wide(record->correlationId),
			.device = record->deviceId,
			.context = record->contextId,
			.stream = record->streamId,
			.graph = record->graphId,
			.bytes = record->bytes},
	};
	return CUPTI_RECORD_EVENT;
}

static enum cupti_record call(struct session *session, const void *at,
			      struct cupti_event *made)
{
	const CUpti_ActivityAPI *record = at;
	const bool is_driver = record->kind == CUPTI_ACTIVITY_KIND_DRIVER;
	enum gpu_launch_kind launch;

	made->event = (struct event){
		.kind = EVENT_GPU_API,
		.extra = record->threadId,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.api = {.correlation = wide(record->correlationId),
			.cbid = record->cbid,
			.result = record->returnValue,
			.is_driver = is_driver},
	};
	made->event.name =
		cupti_name_of(session, is_driver, record->cbid, &launch);
	made->event.api.is_launch =
		record->returnValue ? GPU_LAUNCH_NONE : launch;
	return CUPTI_RECORD_EVENT;
}

/* The longer records of waits and of events. */
static bool has_recording(const struct session *session, size_t room)
{
	return session->head->gpu.cupti_version >= RECORDING_FROM &&
	       room >= RECORDED_BYTES;
}

/* All ones, in 32 bits or in 64, is CUPTI's "none". */
static uint32_t recording_of(uint64_t number)
{
	return (uint32_t)number == CUPTI_SYNCHRONIZATION_INVALID_VALUE
		       ? 0
		       : (uint32_t)number;
}

static enum cupti_record synchronisation(const struct session *session,
					 const void *at, size_t room,
					 struct cupti_event *made)
{
	const CUpti_ActivitySynchronization2 *record = at;

	made->event = (struct event){
		.kind = EVENT_GPU_SYNC,
		.extra = (uint32_t)record->type,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = wide(record->correlationId),
			.device = cupti_device_of(record->contextId),
			.context = record->contextId,
			.stream = record->streamId,
			.event = record->cudaEventId},
	};
	if (has_recording(session, room))
		made->event.gpu.recording =
			recording_of(record->cudaEventSyncId);
	return CUPTI_RECORD_EVENT;
}

/* Where the GPU has not measured the moment the writer takes that of the
 * call; until then it counts as now.  A time that lies ahead is none of our
 * clock's. */
static enum cupti_record mark(const struct session *session, const void *at,
			      size_t room, struct cupti_event *made)
{
	const CUpti_ActivityCudaEvent2 *record = at;
	const uint64_t now = clock_ticks();
	const bool is_long = has_recording(session, room);
	const bool is_timed = is_long && record->deviceTimestamp &&
			      record->deviceTimestamp <= now;

	made->event = (struct event){
		.kind = EVENT_GPU_EVENT,
		.extra = is_timed,
		.gpu = {.correlation = wide(record->correlationId),
			.device = is_long ? record->deviceId
					  : cupti_device_of(record->contextId),
			.context = record->contextId,
			.stream = record->streamId,
			.event = record->eventId},
	};
	if (is_long)
		made->event.gpu.recording =
			recording_of(record->cudaEventSyncId);
	made->event.start_ticks = is_timed ? record->deviceTimestamp : now;
	made->event.end_ticks = made->event.start_ticks;
	return CUPTI_RECORD_EVENT;
}

static enum cupti_record graph(const void *at, struct cupti_event *made)
{
	const CUpti_ActivityGraphTrace2 *record = at;

	made->event = (struct event){
		.kind = EVENT_GPU_GRAPH,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = wide(record->correlationId),
			.device = record->deviceId,
			.context = record->contextId,
			.stream = record->streamId,
			.graph = record->graphId},
	};
	return CUPTI_RECORD_EVENT;
}

/* In the order of their numbers: 1, then 1 << 16, 2 << 16 and so on. */
static const char *const overheads[] = {
	"Unknown",
	"Driver Compiler",
	"Buffer Flush",
	"Instrumentation",
	"Resource",
	"Runtime Triggered Module Loading",
	"Lazy Function Loading",
	"Command Buffer Full",
	"Activity Buffer Request",
	"UVM Activity Init",
};

static enum cupti_record overhead(struct session *session, const void *at,
				  struct cupti_event *made)
{
	const CUpti_ActivityOverhead3 *record = at;
	const uint32_t number = (uint32_t)record->overheadKind;
	uint32_t index = number == 1	? 1
			 : number >> 16 ? (number >> 16) + 1
					: 0;

	if (index >= sizeof(overheads) / sizeof(overheads[0]))
		index = 0;
	if (!known.overhead_name[index])
		known.overhead_name[index] =
			names_intern_string(session, overheads[index]);
	made->event = (struct event){
		.kind = EVENT_GPU_OVERHEAD,
		.name = known.overhead_name[index],
		.extra = record->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD
				 ? record->objectId.pt.threadId
				 : 0,
		.start_ticks = record->start,
		.end_ticks = record->end,
	};
	return CUPTI_RECORD_EVENT;
}

static enum cupti_record memory(const void *at, struct cupti_event *made)
{
	const CUpti_ActivityMemory4 *record = at;

	/* Of the host's memory the heap's hooks know. */
	if (record->memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE &&
	    record->memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
		return CUPTI_RECORD_NOTHING;
	made->event = (struct event){
		.kind = EVENT_GPU_MEMORY,
		.extra = (uint32_t)record->memoryKind,
		.start_ticks = record->timestamp,
		.end_ticks = record->timestamp,
		.memory =
			{.correlation = wide(record->correlationId),
			 .address = record->address,
			 .size_bytes = record->bytes,
			 .device = record->deviceId,
			 .is_free =
				 record->memoryOperationType ==
				 CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE},
	};
	return CUPTI_RECORD_EVENT;
}

/* So many bytes a record of this kind must have; 0: it isn't decoded. */
static size_t needed_bytes(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return KERNEL_BYTES;
	case CUPTI_ACTIVITY_KIND_MEMCPY: return COPY_BYTES;
	case CUPTI_ACTIVITY_KIND_MEMCPY2: return PEER_BYTES;
	case CUPTI_ACTIVITY_KIND_MEMSET: return FILL_BYTES;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return SYNC_BYTES;
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return MARK_BYTES;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return GRAPH_BYTES;
	case CUPTI_ACTIVITY_KIND_OVERHEAD: return OVERHEAD_BYTES;
	case CUPTI_ACTIVITY_KIND_MEMORY2: return MEMORY_BYTES;
	case CUPTI_ACTIVITY_KIND_DEVICE: return DEVICE_BYTES;
	case CUPTI_ACTIVITY_KIND_CONTEXT: return CONTEXT_BYTES;
	default: return 0;
	}
}

static enum cupti_record decode(struct session *session,
				const CUpti_Activity *record, size_t room,
				struct cupti_event *made)
{
	const CUpti_ActivityContext *context;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return kernel(record, made);
	case CUPTI_ACTIVITY_KIND_MEMCPY: return copy(record, made);
	case CUPTI_ACTIVITY_KIND_MEMCPY2: return peer_copy(record, made);
	case CUPTI_ACTIVITY_KIND_MEMSET: return fill(record, made);
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: return call(session, record, made);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return synchronisation(session, record, room, made);
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		return mark(session, record, room, made);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return graph(record, made);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return overhead(session, record, made);
	case CUPTI_ACTIVITY_KIND_MEMORY2: return memory(record, made);
	case CUPTI_ACTIVITY_KIND_DEVICE:
		cupti_device_take(session,
				  (const CUpti_ActivityDevice5 *)record);
		return CUPTI_RECORD_NOTHING;
	default:
		context = (const CUpti_ActivityContext *)record;
		cupti_device_note(context->contextId, context->deviceId);
		return CUPTI_RECORD_NOTHING;
	}
}

enum cupti_record cupti_record_decode(struct session *session,
				      const CUpti_Activity *record, size_t room,
				      struct cupti_event *made)
{
	const size_t needed = needed_bytes(record->kind);
	enum cupti_record result;

	if (!needed || room < needed)
		return CUPTI_RECORD_UNKNOWN;
	result = decode(session, record, room, made);
	/* 0 means "could not be measured": without this the work would begin
	 * when the machine did. */
	if (result == CUPTI_RECORD_EVENT &&
	    (!made->event.start_ticks || !made->event.end_ticks))
		return CUPTI_RECORD_NO_TIME;
	return result;
}

void cupti_record_forget(void)
{
	memset(&known, 0, sizeof(known));
	cupti_device_forget();
	cupti_name_forget();
}

#endif
