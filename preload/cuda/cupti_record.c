/* SPDX-License-Identifier: MIT */
/* cupti_record.c - decodes single records of CUPTI; see cupti_record.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_record.h"

#include "collector/system/clock.h"
#include "collector/session/names.h"
#include "preload/cuda/cupti_side.h"
#include "preload/cuda/cupti_clock.h"
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
AT(Kernel10, submitted, 128);
AT(Kernel10, launchType, 136);
AT(Kernel10, graphNodeId, 144);
AT(Kernel10, graphId, 156);
AT(Kernel10, channelID, 168);
AT(Kernel10, clusterX, 176);
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
AT(Device5, id, 112);
AT(Device5, uuid, 120);
AT(Device5, name, 136);
AT(Device5, isCudaVisible, 144);
AT(Device5, gpuInstanceId, 152);
AT(Device5, migUuid, 160);

/* cuptiGetVersion() of 12.8: from it on waits name the recording of an event
 * that they wait for, and records of events are longer. */
#define RECORDING_FROM 26u
#define RECORDED_BYTES 56

/* The end of a device's migUuid. */
#define MIG_BYTES      176

#define ROUND	       (UINT64_C(1) << 32)
#define CONTEXTS_MAX   4096u

/* The writer's thread alone. */
static struct {
	uint64_t since_ticks; /* we are CUPTI's client */
	uint64_t last_correlation;
	uint32_t overhead_name[16];
	/* By domain (runtime, driver) and number of the call. */
	uint32_t call_name[2][CUPTI_CALLS_MAX];
	uint8_t call_launch[2][CUPTI_CALLS_MAX];
	/* Which device a context lies on. */
	struct {
		uint32_t context, device;
	} contexts[CONTEXTS_MAX];
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
	case CUPTI_ACTIVITY_KIND_JIT:
		return (const char **)(void *)&((CUpti_ActivityJit2 *)record)
			->cachePath;
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
uint64_t cupti_record_wide(uint32_t correlation)
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

/* --- devices and contexts ------------------------------------------------- */

/* Into the session; its name is an interned id already. */
static void take_device(struct session *session,
			const CUpti_ActivityDevice5 *record, size_t room)
{
	struct gpu_device *known_as;
	const char *name;
	size_t len;

	/* Numbers of devices that CUDA_VISIBLE_DEVICES hides are not those of
	 * other records. */
	if (!record->isCudaVisible)
		return;
	if (record->id >= GPU_DEVICES_MAX) {
		session_note(session,
			     "devices past the first %u are not described, nor "
			     "is their memory counted",
			     GPU_DEVICES_MAX);
		return;
	}
	known_as = &session->head->gpu.device[record->id];
	*known_as = (struct gpu_device){
		.memory_bytes = record->globalMemorySize,
		.major = record->computeCapabilityMajor,
		.minor = record->computeCapabilityMinor,
		.multiprocessors = record->numMultiprocessors,
		.warp_size = record->numThreadsPerWarp,
		.warps_per_multiprocessor = record->maxWarpsPerMultiprocessor,
		.blocks_per_multiprocessor = record->maxBlocksPerMultiprocessor,
		.threads_per_block = record->maxThreadsPerBlock,
		.registers_per_block = record->maxRegistersPerBlock,
		.registers_per_multiprocessor =
			record->maxRegistersPerMultiprocessor,
		.shared_per_block = record->maxSharedMemoryPerBlock,
		.shared_per_multiprocessor =
			record->maxSharedMemoryPerMultiprocessor,
	};
	memcpy(known_as->uuid, &record->uuid, sizeof(known_as->uuid));
	if (room >= MIG_BYTES && record->isMigEnabled) {
		known_as->is_mig = 1;
		known_as->gpu_instance = record->gpuInstanceId;
		known_as->compute_instance = record->computeInstanceId;
		memcpy(known_as->mig_uuid, &record->migUuid,
		       sizeof(known_as->mig_uuid));
	}
	name = names_text(session, text_id(record->name), &len);
	memcpy(known_as->name, name,
	       len < GPU_NAME_BYTES ? len : GPU_NAME_BYTES - 1);
	known_as->is_known = 1;
}

static void note_context(uint32_t context, uint32_t device)
{
	known.contexts[context % CONTEXTS_MAX].context = context;
	known.contexts[context % CONTEXTS_MAX].device = device;
}

/* 0 for a context that was never noted. */
static uint32_t device_of(uint32_t context)
{
	return known.contexts[context % CONTEXTS_MAX].context == context
		       ? known.contexts[context % CONTEXTS_MAX].device
		       : 0;
}

/* --- names of calls ------------------------------------------------------- */

static size_t without_version(const char *name, size_t len)
{
	size_t digits = len;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits < len && digits > 2 && name[digits - 1] == 'v' &&
			       name[digits - 2] == '_'
		       ? digits - 2
		       : len;
}

/* Without version and stream suffix, in whichever order: cudaMalloc_v3020,
 * cudaLaunchKernel_ptsz_v7000, cuMemcpyHtoD_v2_ptds. */
static size_t plain_length(const char *name)
{
	size_t len = without_version(name, strlen(name));

	if (len > 5 && (!strncmp(name + len - 5, "_ptsz", 5) ||
			!strncmp(name + len - 5, "_ptds", 5)))
		len = without_version(name, len - 5);
	return len;
}

enum gpu_launch_kind cupti_launch_kind(const char *name)
{
	/* cudaGraphAddMemcpyNode() and its like only build. */
	if (strstr(name, "Graph"))
		return strstr(name, "GraphLaunch") ? GPU_LAUNCH_GRAPH
						   : GPU_LAUNCH_NONE;
	if (strstr(name, "Launch") && !strstr(name, "HostFunc"))
		return GPU_LAUNCH_KERNEL;
	return strstr(name, "Memcpy") || strstr(name, "Memset")
		       ? GPU_LAUNCH_COPY
		       : GPU_LAUNCH_NONE;
}

/* The interned name, and what the call puts on a GPU. */
static uint32_t name_of_call(struct session *session, bool is_driver,
			     uint32_t cbid, enum gpu_launch_kind *launch)
{
	const char *name = NULL;
	uint32_t *id;

	*launch = GPU_LAUNCH_NONE;
	if (cbid >= CUPTI_CALLS_MAX)
		return names_intern_string(session, "(unknown CUDA call)");
	id = &known.call_name[is_driver][cbid];
	if (!*id) {
		if (cupti.cuptiGetCallbackName(
			    is_driver ? CUPTI_CB_DOMAIN_DRIVER_API
				      : CUPTI_CB_DOMAIN_RUNTIME_API,
			    cbid, &name) != CUPTI_SUCCESS ||
		    !name)
			name = "(unknown CUDA call)";
		known.call_launch[is_driver][cbid] =
			(uint8_t)cupti_launch_kind(name);
		while (*name == '_')
			name++;
		*id = names_intern(session, name, plain_length(name));
	}
	*launch = (enum gpu_launch_kind)known.call_launch[is_driver][cbid];
	return *id;
}

/* --- work of the GPU ------------------------------------------------------ */

/* What CUPTI's structs of work have in common, by name, not by place. */
#define WORK(what, record)                                                     \
	(struct event)                                                         \
	{                                                                      \
		.kind = (what), .start_ticks = (record)->start,                \
		.end_ticks = (record)->end,                                    \
		.gpu = {                                                       \
			.correlation =                                         \
				cupti_record_wide((record)->correlationId),    \
			.device = (record)->deviceId,                          \
			.context = (record)->contextId,                        \
			.stream = (record)->streamId,                          \
			.graph = (record)->graphId,                            \
		},                                                             \
	}

static void kernel(const CUpti_ActivityKernel10 *record,
		   struct cupti_event *made)
{
	struct event *event = &made->event;

	*event = WORK(EVENT_GPU_KERNEL, record);
	event->flags = EVENT_TWO_SLOTS;
	event->name = cupti_launch_names_of(record->correlationId);
	if (!event->name)
		event->name = text_id(record->name);
	event->gpu.graph_node = record->graphNodeId;
	made->kernel = (struct gpu_kernel){
		.grid = {(uint32_t)record->gridX, (uint32_t)record->gridY,
			 (uint32_t)record->gridZ},
		.block = {(uint32_t)record->blockX, (uint32_t)record->blockY,
			  (uint32_t)record->blockZ},
		.static_bytes = (uint32_t)record->staticSharedMemory,
		.dynamic_bytes = (uint32_t)record->dynamicSharedMemory,
		.registers = record->registersPerThread,
		.channel = record->channelID,
		.channel_type = (uint8_t)record->channelType,
		.launch = record->launchType,
		.cluster = {(uint16_t)record->clusterX,
			    (uint16_t)record->clusterY,
			    (uint16_t)record->clusterZ},
		.queued_ticks = record->queued,
		.submitted_ticks = record->submitted,
	};
	note_context(record->contextId, record->deviceId);
}

/* The two kinds of copies are one shape too, but for the ends of a peer's. */
#define COPY(record)                                                           \
	(struct gpu_copy)                                                      \
	{                                                                      \
		.kind = (record)->copyKind, .source = (record)->srcKind,       \
		.destination = (record)->dstKind,                              \
		.graph_node = (record)->graphNodeId,                           \
	}

static void copy(const CUpti_ActivityMemcpy6 *record, struct cupti_event *made)
{
	made->event = WORK(EVENT_GPU_COPY, record);
	made->event.flags = EVENT_TWO_SLOTS;
	made->event.gpu.bytes = record->bytes;
	made->copy = COPY(record);
	note_context(record->contextId, record->deviceId);
}

static void peer_copy(const CUpti_ActivityMemcpyPtoP4 *record,
		      struct cupti_event *made)
{
	made->event = WORK(EVENT_GPU_COPY, record);
	made->event.flags = EVENT_TWO_SLOTS;
	made->event.gpu.bytes = record->bytes;
	made->copy = COPY(record);
	made->copy.is_peer = 1;
	made->copy.source_device = record->srcDeviceId;
	made->copy.source_context = record->srcContextId;
	made->copy.destination_device = record->dstDeviceId;
	made->copy.destination_context = record->dstContextId;
}

static void fill(const CUpti_ActivityMemset4 *record, struct cupti_event *made)
{
	made->event = WORK(EVENT_GPU_FILL, record);
	made->event.extra = record->memoryKind;
	made->event.gpu.bytes = record->bytes;
}

/* --- what happens on the host --------------------------------------------- */

static void call(struct session *session, const CUpti_ActivityAPI *record,
		 struct cupti_event *made)
{
	const bool is_driver = record->kind == CUPTI_ACTIVITY_KIND_DRIVER;
	enum gpu_launch_kind launch;

	made->event = (struct event){
		.kind = EVENT_GPU_API,
		.extra = record->threadId,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.api = {.correlation = cupti_record_wide(record->correlationId),
			.cbid = record->cbid,
			.result = record->returnValue,
			.is_driver = is_driver},
	};
	made->event.name =
		name_of_call(session, is_driver, record->cbid, &launch);
	made->event.api.is_launch =
		record->returnValue ? GPU_LAUNCH_NONE : launch;
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

static void synchronisation(const struct session *session,
			    const CUpti_ActivitySynchronization2 *record,
			    size_t room, struct cupti_event *made)
{
	made->event = (struct event){
		.kind = EVENT_GPU_SYNC,
		.extra = (uint32_t)record->type,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = cupti_record_wide(record->correlationId),
			.device = device_of(record->contextId),
			.context = record->contextId,
			.stream = record->streamId,
			.event = record->cudaEventId},
	};
	if (has_recording(session, room))
		made->event.gpu.recording =
			recording_of(record->cudaEventSyncId);
}

/* By the call's number: that above the name; 0 none. */
#define RECORDED_MOST 16384u
static _Atomic uint64_t recorded[RECORDED_MOST];

void cupti_record_named(uint32_t correlation, uint32_t name)
{
	store_relaxed(&recorded[correlation % RECORDED_MOST],
		      (uint64_t)correlation << 32 | name);
}

static uint32_t name_recorded(uint32_t correlation)
{
	const uint64_t found =
		load_relaxed(&recorded[correlation % RECORDED_MOST]);

	return found >> 32 == correlation ? (uint32_t)found : 0;
}

/* Where the GPU has not measured the moment the writer takes that of the
 * call; until then it counts as now.  A time that lies ahead is none of our
 * clock's. */
static void mark(const struct session *session,
		 const CUpti_ActivityCudaEvent2 *record, size_t room,
		 struct cupti_event *made)
{
	const uint64_t now = clock_ticks();
	const bool is_long = has_recording(session, room);
	const uint64_t reached =
		is_long ? cupti_clock_ticks(record->deviceTimestamp) : 0;
	const bool is_timed = reached && reached <= now;

	made->event = (struct event){
		.kind = EVENT_GPU_EVENT,
		.extra = is_timed,
		.name = name_recorded(record->correlationId),
		.gpu = {.correlation = cupti_record_wide(record->correlationId),
			.device = is_long ? record->deviceId
					  : device_of(record->contextId),
			.context = record->contextId,
			.stream = record->streamId,
			.event = record->eventId},
	};
	if (is_long)
		made->event.gpu.recording =
			recording_of(record->cudaEventSyncId);
	made->event.start_ticks = is_timed ? reached : now;
	made->event.end_ticks = made->event.start_ticks;
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

static void overhead(struct session *session,
		     const CUpti_ActivityOverhead3 *record,
		     struct cupti_event *made)
{
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
}

static enum cupti_record memory(const CUpti_ActivityMemory4 *record,
				struct cupti_event *made)
{
	const bool is_pinned =
		record->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;

	/* Of the host's pageable memory the heap's hooks know. */
	if (record->memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE &&
	    record->memoryKind != CUPTI_ACTIVITY_MEMORY_KIND_MANAGED &&
	    !is_pinned)
		return CUPTI_RECORD_NOTHING;
	made->event = (struct event){
		.kind = EVENT_GPU_MEMORY,
		.extra = (uint32_t)record->memoryKind,
		.start_ticks = record->timestamp,
		.end_ticks = record->timestamp,
		.memory =
			{.correlation =
				 cupti_record_wide(record->correlationId),
			 .address = record->address,
			 .size_bytes = record->bytes,
			 .device = is_pinned ? 0 : record->deviceId,
			 .is_free =
				 record->memoryOperationType ==
				 CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE},
	};
	return CUPTI_RECORD_EVENT;
}

/* --- by kind -------------------------------------------------------------- */

/* How much of a record of this kind is read, which is what CUPTI 12.0 has of
 * it; 0: it isn't decoded. */
static size_t needed_bytes(CUpti_ActivityKind kind)
{
	static const struct {
		uint16_t kind;
		uint16_t bytes;
	} rows[] = {
		{CUPTI_ACTIVITY_KIND_KERNEL, 188},
		{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 188},
		{CUPTI_ACTIVITY_KIND_MEMCPY, 80},
		{CUPTI_ACTIVITY_KIND_MEMCPY2, 88},
		{CUPTI_ACTIVITY_KIND_MEMSET, 80},
		{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 40},
		{CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI)},
		{CUPTI_ACTIVITY_KIND_DRIVER, sizeof(CUpti_ActivityAPI)},
		{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 40},
		{CUPTI_ACTIVITY_KIND_CUDA_EVENT, 24},
		{CUPTI_ACTIVITY_KIND_OVERHEAD, 40},
		{CUPTI_ACTIVITY_KIND_MEMORY2, 64},
		{CUPTI_ACTIVITY_KIND_DEVICE, 152},
		{CUPTI_ACTIVITY_KIND_CONTEXT, 16},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].kind == kind)
			return rows[i].bytes;
	}
	return cupti_side_needs(kind);
}

/* From the clock that the record has. */
static void to_ticks(struct cupti_event *made)
{
	struct event *event = &made->event;

	made->start = event->start_ticks;
	made->end = event->end_ticks;
	event->start_ticks = cupti_clock_ticks(event->start_ticks);
	event->end_ticks = cupti_clock_ticks(event->end_ticks);
	if (event->kind != EVENT_GPU_KERNEL)
		return;
	made->kernel.queued_ticks =
		cupti_clock_ticks(made->kernel.queued_ticks);
	made->kernel.submitted_ticks =
		cupti_clock_ticks(made->kernel.submitted_ticks);
}

static enum cupti_record decode(struct session *session, const void *record,
				CUpti_ActivityKind kind, size_t room,
				struct cupti_event *made)
{
	const CUpti_ActivityGraphTrace2 *graph = record;
	const CUpti_ActivityContext *context = record;

	switch (kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: kernel(record, made); break;
	case CUPTI_ACTIVITY_KIND_MEMCPY: copy(record, made); break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2: peer_copy(record, made); break;
	case CUPTI_ACTIVITY_KIND_MEMSET: fill(record, made); break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		made->event = WORK(EVENT_GPU_GRAPH, graph);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: call(session, record, made); break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		synchronisation(session, record, room, made);
		break;
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		mark(session, record, room, made);
		return CUPTI_RECORD_EVENT;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		overhead(session, record, made);
		break;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		if (memory(record, made) != CUPTI_RECORD_EVENT)
			return CUPTI_RECORD_NOTHING;
		cupti_side_pool(record, room, made);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		take_device(session, record, room);
		return CUPTI_RECORD_NOTHING;
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		note_context(context->contextId, context->deviceId);
		return CUPTI_RECORD_NOTHING;
	default:
		if (cupti_side_decode(session, record, kind, made) !=
		    CUPTI_RECORD_EVENT)
			return CUPTI_RECORD_NOTHING;
		break;
	}
	to_ticks(made);
	return CUPTI_RECORD_EVENT;
}

/* What is recorded was so since we are here.  Another's clock, which may have
 * been CUPTI's when a call began, is far away; its interpolation isn't. */
static bool is_plausible(const struct session *session,
			 const struct event *event)
{
	const uint64_t slack = clock_ticks_per_second(&session->head->clock);

	return event->end_ticks >= event->start_ticks &&
	       event->end_ticks <= clock_ticks() + slack &&
	       event->start_ticks + slack >= known.since_ticks;
}

enum cupti_record cupti_record_decode(struct session *session,
				      const CUpti_Activity *record, size_t room,
				      struct cupti_event *made)
{
	const size_t needed = needed_bytes(record->kind);
	enum cupti_record result;

	if (!needed || room < needed)
		return CUPTI_RECORD_UNKNOWN;
	result = decode(session, record, record->kind, room, made);
	if (result == CUPTI_RECORD_EVENT &&
	    !is_plausible(session, &made->event))
		return CUPTI_RECORD_NO_TIME;
	/* 0 means "could not be measured": without this the work would begin
	 * when the machine did. */
	if (result == CUPTI_RECORD_EVENT &&
	    (!made->event.start_ticks || !made->event.end_ticks))
		return CUPTI_RECORD_NO_TIME;
	return result;
}

void cupti_record_start(void)
{
	known.since_ticks = clock_ticks();
}

void cupti_record_forget(void)
{
	memset(&known, 0, sizeof(known));
}

#endif
