/* SPDX-License-Identifier: MIT */
/* cupti_side.c - decodes what lies beside the work; see cupti_side.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_side.h"

#include "collector/session/names.h"
#include "collector/system/log.h"

/* Since 13.1: no older header has them. */
#define GRAPH_HOST_NODE ((CUpti_ActivityKind)56)
#define HOST_LAUNCH	((CUpti_ActivityKind)58)

struct graph_host_node {
	uint32_t kind, stream, context, device, correlation, graph;
	uint64_t node;
	uint32_t process, thread;
	uint64_t start, end;
};

struct host_launch {
	uint32_t kind, stream, context, device, correlation, process, thread,
		pad;
	uint64_t start, end;
};

#define AT(record, field, at)                                                  \
	_Static_assert(offsetof(CUpti_Activity##record, field) == (at),        \
		       "CUPTI moved " #record "." #field)

AT(MemoryPool3, deviceId, 20);
AT(MemoryPool3, address, 32);
AT(MemoryPool3, releaseThreshold, 48);
AT(MemoryPool3, timestamp, 56);
AT(MemoryPool3, utilizedSize, 64);
AT(Memory4, memoryPoolConfig, 80);
AT(UnifiedMemoryCounter3, counterKind, 4);
AT(UnifiedMemoryCounter3, start, 16);
AT(UnifiedMemoryCounter3, srcId, 40);
AT(UnifiedMemoryCounter3, flags, 56);
AT(Jit2, deviceId, 12);
AT(Jit2, start, 16);
AT(Jit2, cacheSize, 48);
AT(Jit2, cachePath, 56);
AT(Stream, priority, 12);

#define COUNTER(word) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##word
#define ONE_PROCESS                                                            \
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE

/* The end of memoryPoolConfig, which 12.0 has. */
#define POOL_BYTES	120u
/* cuptiGetVersion() of 12.6: its records of compilation name the thread. */
#define JIT_THREAD_FROM 24u

/* --- which kinds ---------------------------------------------------------- */

/* It was to be enabled inside of cuInit(), where CUPTI is not ready for it. */
static _Atomic bool unified_waits;

/* Managed memory is told of when it was asked for, before its kind.  False: it
 * isn't. */
static bool configure_unified(struct session *session)
{
	static const CUpti_ActivityUnifiedMemoryCounterKind kinds[] = {
		COUNTER(BYTES_TRANSFER_HTOD),
		COUNTER(BYTES_TRANSFER_DTOH),
		COUNTER(CPU_PAGE_FAULT_COUNT),
		COUNTER(GPU_PAGE_FAULT),
		COUNTER(THRASHING),
		COUNTER(THROTTLING),
		COUNTER(REMOTE_MAP),
		COUNTER(BYTES_TRANSFER_DTOD)};
	CUpti_ActivityUnifiedMemoryCounterConfig
		config[sizeof(kinds) / sizeof(kinds[0])];
	const uint32_t count = sizeof(kinds) / sizeof(kinds[0]);
	CUptiResult rc = CUPTI_ERROR_NOT_SUPPORTED;

	for (uint32_t i = 0; i < count; i++)
		config[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
			.scope = ONE_PROCESS, .kind = kinds[i], .enable = 1};
	if (cupti.cuptiActivityConfigureUnifiedMemoryCounter)
		rc = cupti.cuptiActivityConfigureUnifiedMemoryCounter(config,
								      count);
	if (rc != CUPTI_SUCCESS)
		session_note(session,
			     "managed memory is not recorded: CUPTI error %d",
			     (int)rc);
	return rc == CUPTI_SUCCESS;
}

static void enable_unified(struct session *session)
{
	CUptiResult rc;

	if (!configure_unified(session))
		return;
	rc = cupti.cuptiActivityEnable(
		CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	store_relaxed(&unified_waits, rc == CUPTI_ERROR_NOT_READY);
	if (rc != CUPTI_SUCCESS && rc != CUPTI_ERROR_NOT_READY)
		session_note(session,
			     "managed memory is not recorded: CUPTI error %d",
			     (int)rc);
}

void cupti_side_initialised(void)
{
	struct session *session = load_relaxed(&session_here);

	if (session && load_relaxed(&unified_waits))
		enable_unified(session);
}

void cupti_side_start(const struct options *options, bool late)
{
	__typeof__(cupti.cuptiActivityEnable) tell = cupti.cuptiActivityEnable;

	if (late && cupti.cuptiActivityEnableAndDump)
		tell = cupti.cuptiActivityEnableAndDump;
	tell(CUPTI_ACTIVITY_KIND_STREAM);
	if (options->gpu_latency && cupti.cuptiActivityEnableLatencyTimestamps)
		cupti.cuptiActivityEnableLatencyTimestamps(1);
}

void cupti_side_leave(void)
{
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_STREAM);
	if (cupti.cuptiActivityEnableLatencyTimestamps)
		cupti.cuptiActivityEnableLatencyTimestamps(0);
}

void cupti_side_turn(const struct options *options, bool on,
		     void (*enable)(CUpti_ActivityKind kind))
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_JIT,
		GRAPH_HOST_NODE, HOST_LAUNCH,
		CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER};
	struct session *session = load_relaxed(&session_here);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i] == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER &&
		    !options->unified_memory)
			continue;
		if (kinds[i] >= GRAPH_HOST_NODE &&
		    session->head->gpu.cupti_version < 130100)
			continue;
		if (!on) {
			cupti.cuptiActivityDisable(kinds[i]);
			continue;
		}
		if (kinds[i] == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
			enable_unified(session);
		else
			enable(kinds[i]);
	}
}

/* --- records -------------------------------------------------------------- */

size_t cupti_side_needs(CUpti_ActivityKind kind)
{
	switch ((int)kind) {
	case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return 72;
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return 64;
	case CUPTI_ACTIVITY_KIND_JIT: return 64;
	case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
	case GRAPH_HOST_NODE: return sizeof(struct graph_host_node);
	case HOST_LAUNCH: return sizeof(struct host_launch);
	default: return 0;
	}
}

static const char *word(const char *const *words, size_t count, uint32_t number)
{
	return words[number < count ? number : 0];
}

static void jit(struct session *session, const CUpti_ActivityJit2 *record,
		struct cupti_event *made)
{
	static const char *const entries[] = {"", " PTX to CUBIN",
					      " NVVM IR to PTX"};
	static const char *const operations[] = {
		"JIT", "JIT cache load", "JIT cache store", "JIT compile"};
	const bool has_thread =
		session->head->gpu.cupti_version >= JIT_THREAD_FROM;
	char text[64];

	log_format(text, sizeof(text), "%s%s",
		   word(operations, 4, (uint32_t)record->jitOperationType),
		   word(entries, 3, (uint32_t)record->jitEntryType));
	made->event = (struct event){
		.kind = EVENT_GPU_JIT,
		.name = names_intern_string(session, text),
		.extra = has_thread ? record->threadId : 0,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.jit = {.correlation = cupti_record_wide(record->correlationId),
			.size_bytes = record->cacheSize,
			.device = record->deviceId,
			.path = (uint32_t)(uintptr_t)record->cachePath},
	};
}

static void unified(const CUpti_ActivityUnifiedMemoryCounter3 *record,
		    struct cupti_event *made)
{
	const uint32_t kind = (uint32_t)record->counterKind;
	uint32_t source = record->srcId, destination = record->dstId;
	uint32_t device = source;
	uint64_t end = record->end;

	switch (kind) {
	case COUNTER(BYTES_TRANSFER_HTOD):
		source = UINT32_MAX;
		device = destination;
		break;
	case COUNTER(BYTES_TRANSFER_DTOH): destination = UINT32_MAX; break;
	case COUNTER(CPU_PAGE_FAULT_COUNT):
		source = UINT32_MAX;
		device = 0;
		end = record->start;
		break;
	case COUNTER(THRASHING):
		/* A bit for each. */
		device = source ? (uint32_t)__builtin_ctz(source) : 0;
		end = record->start;
		break;
	case COUNTER(REMOTE_MAP): end = record->start; break;
	default: break;
	}
	made->event = (struct event){
		.kind = EVENT_GPU_UNIFIED,
		.extra = kind,
		.start_ticks = record->start,
		.end_ticks = end,
		.unified = {.value = record->value,
			    .address = record->address,
			    .source = source,
			    .destination = destination,
			    .why = record->flags,
			    .device = device < GPU_DEVICES_MAX ? device : 0},
	};
}

static void pool(const CUpti_ActivityMemoryPool3 *record,
		 struct cupti_event *made)
{
	made->event = (struct event){
		.kind = EVENT_GPU_POOL,
		.flags = EVENT_TWO_SLOTS,
		.start_ticks = record->timestamp,
		.end_ticks = record->timestamp,
		.memory = {.address = record->address,
			   .device = record->deviceId},
	};
	made->pool = (struct gpu_pool){
		.address = record->address,
		.size_bytes = record->size,
		.used_bytes = record->utilizedSize,
		.threshold_bytes = record->releaseThreshold,
		.operation = (uint32_t)record->memoryPoolOperationType,
	};
}

void cupti_side_pool(const CUpti_ActivityMemory4 *record, size_t room,
		     struct cupti_event *made)
{
	const __typeof__(record->memoryPoolConfig) *config =
		&record->memoryPoolConfig;

	if (room < POOL_BYTES ||
	    config->memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL)
		return;
	made->event.flags |= EVENT_TWO_SLOTS;
	made->pool = (struct gpu_pool){
		.address = config->address,
		.size_bytes = config->pool.size,
		.used_bytes = config->utilizedSize,
		.threshold_bytes = config->releaseThreshold,
	};
}

static void host_node(const struct graph_host_node *record,
		      struct cupti_event *made)
{
	made->event = (struct event){
		.kind = EVENT_GPU_HOST,
		.extra = record->thread,
		.start_ticks = record->start,
		.end_ticks = record->end,
		.gpu = {.correlation = cupti_record_wide(record->correlation),
			.device = record->device,
			.context = record->context,
			.stream = record->stream,
			.graph = record->graph,
			.graph_node = record->node},
	};
}

/* The same of no graph. */
static void host_launch(const struct host_launch *record,
			struct cupti_event *made)
{
	const struct graph_host_node node = {
		.stream = record->stream,
		.context = record->context,
		.device = record->device,
		.correlation = record->correlation,
		.thread = record->thread,
		.start = record->start,
		.end = record->end,
	};

	host_node(&node, made);
}

void cupti_side_refuse_stream(struct session *session)
{
	session_note(session,
		     "names and priorities of streams past the first %u are "
		     "not known",
		     GPU_STREAMS_MAX);
}

static void stream(struct session *session, const CUpti_ActivityStream *record)
{
	struct gpu_stream *slot = gpu_stream_slot(
		&session->head->gpu, record->contextId, record->streamId);

	if (slot)
		store_relaxed(&slot->priority, (int32_t)record->priority);
	else
		cupti_side_refuse_stream(session);
}

enum cupti_record cupti_side_decode(struct session *session, const void *record,
				    CUpti_ActivityKind kind,
				    struct cupti_event *made)
{
	switch ((int)kind) {
	case CUPTI_ACTIVITY_KIND_MEMORY_POOL: pool(record, made); break;
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		unified(record, made);
		break;
	case CUPTI_ACTIVITY_KIND_JIT: jit(session, record, made); break;
	case GRAPH_HOST_NODE: host_node(record, made); break;
	case HOST_LAUNCH: host_launch(record, made); break;
	default: stream(session, record); return CUPTI_RECORD_NOTHING;
	}
	return CUPTI_RECORD_EVENT;
}

#endif
