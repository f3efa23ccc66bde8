/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_fields.c - what becomes of each field of CUPTI's records, kind by
 * kind, and of versions that don't have it.
 *
 * CUPTI is played here: of it the names of calls are asked, and its clock.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "collector/session/names.h"
#include "collector/system/cupti_versions.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "tests/unit/session_fixture.h"
#include <string.h>

enum { NEWEST = 130300, LATE_NS = 5000 };

static struct session *session;
static struct cupti_event made;
static const struct event *const event = &made.event;

bool cupti_share_is_on(void)
{
	return false;
}

uint32_t cupti_launch_names_of(uint32_t correlation)
{
	return correlation * 0;
}

static const char *const call_names[] = {
	[1] = "cudaMemcpyAsync_ptsz_v7000", [2] = "cuMemAlloc_v2",
	[3] = "__cudaLaunchKernel_v13000",  [4] = "cuMemcpyHtoD_v2_ptds",
	[5] = "cuLaunchKernel_ptsz",
};

static CUptiResult CUPTIAPI name_of(CUpti_CallbackDomain domain,
				    uint32_t number, const char **name)
{
	(void)domain;
	if (number >= sizeof(call_names) / sizeof(call_names[0]) || !number)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = call_names[number];
	return CUPTI_SUCCESS;
}

/* So much later than ours, and else the same. */
static CUptiResult CUPTIAPI timestamp(uint64_t *time)
{
	*time = clock_ticks() + LATE_NS;
	return CUPTI_SUCCESS;
}

static void begin(uint32_t version)
{
	clock_choose(true);
	session = fixture_begin(4);
	session->head->gpu.cupti_version = version;
	cupti.cuptiGetCallbackName = name_of;
	cupti_record_forget();
	cupti_clock_of(false);
}

static enum cupti_record decode(const void *record, size_t room)
{
	memset(&made, 0, sizeof(made));
	return cupti_record_decode(session, record, room, &made);
}

#define assert_decoded(record)                                                 \
	assert_int_equal(decode(&(record), sizeof(record)), CUPTI_RECORD_EVENT)

static const char *name(void)
{
	return names_text(session, event->name, NULL);
}

static void both_ends_of_a_peer_copy(void **state)
{
	const CUpti_ActivityMemcpyPtoP4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = 10,
		.srcKind = 3,
		.dstKind = 5,
		.bytes = 4096,
		.start = 100,
		.end = 200,
		.deviceId = 1,
		.contextId = 2,
		.streamId = 3,
		.srcDeviceId = 4,
		.srcContextId = 5,
		.dstDeviceId = 6,
		.dstContextId = 7,
		.correlationId = 8,
		.graphNodeId = 9,
		.graphId = 10,
	};

	(void)state;
	begin(NEWEST);
	assert_decoded(record);
	assert_int_equal(event->kind, EVENT_GPU_COPY);
	assert_int_equal(event->flags, EVENT_TWO_SLOTS);
	assert_int_equal(event->gpu.bytes, 4096);
	assert_int_equal(event->gpu.device, 1);
	assert_int_equal(event->gpu.context, 2);
	assert_int_equal(event->gpu.stream, 3);
	assert_int_equal(event->gpu.graph, 10);
	assert_true(made.copy.is_peer);
	assert_int_equal(made.copy.kind, 10);
	assert_int_equal(made.copy.source, 3);
	assert_int_equal(made.copy.source_device, 4);
	assert_int_equal(made.copy.source_context, 5);
	assert_int_equal(made.copy.destination_device, 6);
	assert_int_equal(made.copy.destination_context, 7);
	assert_int_equal(made.copy.graph_node, 9);
	fixture_end(session);
}

static uint32_t device_of_a_wait_in(uint32_t context)
{
	const CUpti_ActivitySynchronization2 wait = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.contextId = context,
		.start = 100,
		.end = 200,
	};

	assert_decoded(wait);
	return event->gpu.device;
}

/* CONTEXT records are given once, and perhaps before we came. */
static void work_tells_its_contexts_device(void **state)
{
	const CUpti_ActivityKernel10 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = 100,
		.end = 200,
		.contextId = 11,
		.deviceId = 3};
	const CUpti_ActivityMemcpy6 copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
					    .start = 100,
					    .end = 200,
					    .contextId = 12,
					    .deviceId = 4,
					    .graphNodeId = 77};

	(void)state;
	begin(NEWEST);
	assert_int_equal(device_of_a_wait_in(11), 0);
	assert_decoded(kernel);
	assert_decoded(copy);
	assert_false(made.copy.is_peer);
	assert_int_equal(made.copy.graph_node, 77);
	assert_int_equal(device_of_a_wait_in(11), 3);
	assert_int_equal(device_of_a_wait_in(12), 4);
	fixture_end(session);
}

static void a_memset_says_of_what(void **state)
{
	const CUpti_ActivityMemset4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.bytes = 64,
		.start = 100,
		.end = 200,
		.memoryKind = 5};

	(void)state;
	begin(NEWEST);
	assert_decoded(record);
	assert_int_equal(event->extra, 5);
	assert_int_equal(event->gpu.bytes, 64);
	fixture_end(session);
}

/* All of a kernel's, where CUPTI's clock isn't ours. */
static void each_time_is_converted(void **state)
{
	CUpti_ActivityKernel10 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
	uint64_t ticks;

	(void)state;
	begin(130001);
	cupti.cuptiGetTimestamp = timestamp;
	cupti_versions_start(130001);
	cupti_clock_forget();
	ticks = clock_ticks();
	assert_int_equal(cupti_clock_start(), 0);
	cupti_clock_of(true);
	kernel.queued = kernel.submitted = ticks;
	kernel.start = kernel.end = ticks;
	assert_decoded(kernel);
	assert_true(event->start_ticks < ticks);
	assert_int_equal(event->end_ticks, event->start_ticks);
	assert_int_equal(made.kernel.queued_ticks, event->start_ticks);
	assert_int_equal(made.kernel.submitted_ticks, event->start_ticks);
	assert_int_equal(made.start, ticks);
	cupti_clock_forget();
	cupti_versions_start(0);
	fixture_end(session);
}

static void decode_overhead(uint32_t kind, CUpti_ActivityObjectKind object)
{
	const CUpti_ActivityOverhead3 record = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.overheadKind = (CUpti_ActivityOverheadKind)kind,
		.objectKind = object,
		.objectId.pt = {.processId = 41, .threadId = 42},
		.start = 100,
		.end = 200};

	assert_decoded(record);
}

static void overheads_have_their_names(void **state)
{
	static const struct {
		uint32_t kind;
		const char *name;
	} rows[] = {{0, "Unknown"},
		    {1, "Driver Compiler"},
		    {1 << 16, "Buffer Flush"},
		    {5 << 16, "Lazy Function Loading"},
		    {8 << 16, "UVM Activity Init"},
		    {9 << 16, "Unknown"},
		    {0x7fffffff, "Unknown"}};

	(void)state;
	begin(NEWEST);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		decode_overhead(rows[i].kind, CUPTI_ACTIVITY_OBJECT_THREAD);
		assert_string_equal(name(), rows[i].name);
		assert_int_equal(event->extra, 42);
	}
	/* Of a device or a stream the numbers are others. */
	decode_overhead(1 << 16, CUPTI_ACTIVITY_OBJECT_STREAM);
	assert_int_equal(event->extra, 0);
	fixture_end(session);
}

static void decode_call(uint32_t number, uint32_t result)
{
	const CUpti_ActivityAPI record = {.kind = CUPTI_ACTIVITY_KIND_DRIVER,
					  .cbid = number,
					  .start = 100,
					  .end = 200,
					  .threadId = 42,
					  .returnValue = result};

	assert_decoded(record);
}

static void calls_have_plain_names(void **state)
{
	static const char *const plain[] = {"cudaMemcpyAsync", "cuMemAlloc",
					    "cudaLaunchKernel", "cuMemcpyHtoD",
					    "cuLaunchKernel"};

	(void)state;
	begin(NEWEST);
	for (uint32_t i = 1; i <= 5; i++) {
		decode_call(i, 0);
		assert_string_equal(name(), plain[i - 1]);
		assert_int_equal(event->extra, 42);
		assert_int_equal(event->api.cbid, i);
		assert_true(event->api.is_driver);
	}
	decode_call(6, 0);
	assert_string_equal(name(), "(unknown CUDA call)");
	decode_call(CUPTI_CALLS_MAX, 0);
	assert_string_equal(name(), "(unknown CUDA call)");
	assert_int_equal(event->api.is_launch, GPU_LAUNCH_NONE);
	decode_call(5, 0);
	assert_int_equal(event->api.is_launch, GPU_LAUNCH_KERNEL);
	decode_call(5, 9);
	assert_int_equal(event->api.result, 9);
	assert_int_equal(event->api.is_launch, GPU_LAUNCH_NONE);
	fixture_end(session);
}

static uint32_t recording_of_wait(uint64_t recording, size_t room)
{
	const CUpti_ActivitySynchronization2 wait = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.start = 100,
		.end = 200,
		.cudaEventId = 5,
		.cudaEventSyncId = recording};

	assert_int_equal(decode(&wait, room), CUPTI_RECORD_EVENT);
	assert_int_equal(event->gpu.event, 5);
	return event->gpu.recording;
}

static void waits_name_a_recording_where_there_is_one(void **state)
{
	const size_t all = sizeof(CUpti_ActivitySynchronization2);

	(void)state;
	begin(26);
	assert_int_equal(recording_of_wait(7, all), 7);
	assert_int_equal(recording_of_wait(UINT32_MAX, all), 0);
	assert_int_equal(recording_of_wait(UINT64_MAX, all), 0);
	assert_int_equal(recording_of_wait(7, 48), 0);
	session->head->gpu.cupti_version = 25;
	assert_int_equal(recording_of_wait(7, all), 0);
	fixture_end(session);
}

static void decode_mark(uint64_t reached, size_t room, uint32_t correlation)
{
	const CUpti_ActivityCudaEvent2 record = {
		.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
		.correlationId = correlation,
		.contextId = 1,
		.streamId = 7,
		.eventId = 5,
		.deviceId = 3,
		.deviceTimestamp = reached,
		.cudaEventSyncId = 9};

	assert_int_equal(decode(&record, room), CUPTI_RECORD_EVENT);
	assert_int_equal(event->gpu.stream, 7);
	assert_int_equal(event->gpu.event, 5);
}

/* When it was reached, where that is known, and else now. */
static void events_are_timed_where_they_can_be(void **state)
{
	const size_t all = sizeof(CUpti_ActivityCudaEvent2);
	uint64_t now;

	(void)state;
	begin(26);
	now = clock_ticks();
	decode_mark(now - 100, all, 1);
	assert_true(event->extra);
	assert_int_equal(event->start_ticks, now - 100);
	assert_int_equal(event->end_ticks, now - 100);
	assert_int_equal(event->gpu.device, 3);
	assert_int_equal(event->gpu.recording, 9);
	decode_mark(0, all, 1);
	assert_false(event->extra);
	assert_true(event->start_ticks >= now);
	decode_mark(now + UINT64_C(3600000000000), all, 1);
	assert_false(event->extra);
	assert_true(event->start_ticks <= clock_ticks());
	decode_mark(now - 100, 40, 1);
	assert_false(event->extra);
	assert_int_equal(event->gpu.device, 0);
	assert_int_equal(event->gpu.recording, 0);
	session->head->gpu.cupti_version = 25;
	decode_mark(now - 100, all, 1);
	assert_false(event->extra);
	fixture_end(session);
}

static void an_events_name_is_that_calls(void **state)
{
	const size_t all = sizeof(CUpti_ActivityCudaEvent2);

	(void)state;
	begin(NEWEST);
	cupti_record_named(5, names_intern_string(session, "loaded"));
	decode_mark(0, all, 5);
	assert_string_equal(name(), "loaded");
	/* Another one that has the same place. */
	decode_mark(0, all, 5 + 16384);
	assert_int_equal(event->name, 0);
	decode_mark(0, all, 6);
	assert_int_equal(event->name, 0);
	fixture_end(session);
}

/* The fields of a part of a device come last, and not every CUPTI has them. */
static void parts_of_a_device_where_they_are_told(void **state)
{
	const CUpti_ActivityDevice5 record = {
		.kind = CUPTI_ACTIVITY_KIND_DEVICE,
		.isCudaVisible = 1,
		.isMigEnabled = 1,
		.gpuInstanceId = 3,
		.computeInstanceId = 4,
		.uuid.bytes = {17},
		.migUuid.bytes = {18}};
	const struct gpu_device *known;

	(void)state;
	begin(NEWEST);
	known = &session->head->gpu.device[0];
	decode(&record, 160);
	assert_true(known->is_known);
	assert_false(known->is_mig);
	assert_int_equal(known->uuid[0], 17);
	decode(&record, sizeof(record));
	assert_true(known->is_mig);
	assert_int_equal(known->gpu_instance, 3);
	assert_int_equal(known->compute_instance, 4);
	assert_int_equal(known->mig_uuid[0], 18);
	fixture_end(session);
}

static enum cupti_record decode_memory(uint32_t kind, uint32_t pool,
				       size_t room)
{
	CUpti_ActivityMemory4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType =
			CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
		.memoryKind = (CUpti_ActivityMemoryKind)kind,
		.correlationId = 4,
		.address = 0x1000,
		.bytes = 64,
		.timestamp = 100,
		.deviceId = 2};

	record.memoryPoolConfig.memoryPoolType =
		(CUpti_ActivityMemoryPoolType)pool;
	record.memoryPoolConfig.address = 0x7000;
	record.memoryPoolConfig.pool.size = 1024;
	record.memoryPoolConfig.utilizedSize = 512;
	record.memoryPoolConfig.releaseThreshold = 256;
	return decode(&record, room);
}

static void memory_is_a_devices_or_pinned(void **state)
{
	const uint32_t shown = 1 << CUPTI_ACTIVITY_MEMORY_KIND_DEVICE |
			       1 << CUPTI_ACTIVITY_MEMORY_KIND_MANAGED |
			       1 << CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	const size_t all = sizeof(CUpti_ActivityMemory4);

	(void)state;
	begin(NEWEST);
	for (uint32_t kind = 0; kind < 8; kind++)
		assert_int_equal(decode_memory(kind, 0, all),
				 shown >> kind & 1 ? CUPTI_RECORD_EVENT
						   : CUPTI_RECORD_NOTHING);
	decode_memory(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 0, all);
	assert_true(event->memory.is_free);
	assert_int_equal(event->memory.correlation, 4);
	assert_int_equal(event->memory.device, 2);
	assert_int_equal(event->flags, 0);
	fixture_end(session);
}

/* Of another process's pool the sizes aren't told. */
static void a_block_knows_its_own_pool(void **state)
{
	const uint32_t device = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	const size_t all = sizeof(CUpti_ActivityMemory4);

	(void)state;
	begin(NEWEST);
	decode_memory(device, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED, all);
	assert_int_equal(event->flags, 0);
	decode_memory(device, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL, 112);
	assert_int_equal(event->flags, 0);
	decode_memory(device, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL, all);
	assert_int_equal(event->flags, EVENT_TWO_SLOTS);
	assert_int_equal(made.pool.address, 0x7000);
	assert_int_equal(made.pool.size_bytes, 1024);
	assert_int_equal(made.pool.used_bytes, 512);
	assert_int_equal(made.pool.threshold_bytes, 256);
	fixture_end(session);
}

static void a_pool_is_its_devices(void **state)
{
	const CUpti_ActivityMemoryPool3 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
		.memoryPoolOperationType =
			CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED,
		.deviceId = 2,
		.address = 0x7000,
		.size = 1024,
		.releaseThreshold = 256,
		.timestamp = 100,
		.utilizedSize = 512};

	(void)state;
	begin(NEWEST);
	assert_decoded(record);
	assert_int_equal(event->memory.device, 2);
	assert_int_equal(made.pool.address, 0x7000);
	assert_int_equal(made.pool.operation,
			 CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
	fixture_end(session);
}

static void decode_unified(uint32_t kind, uint32_t source, uint32_t destination)
{
	const CUpti_ActivityUnifiedMemoryCounter3 record = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)kind,
		.value = 10,
		.start = 100,
		.end = 200,
		.address = 0x9000,
		.srcId = source,
		.dstId = destination,
		.flags = 2};

	assert_decoded(record);
	assert_int_equal(event->extra, kind);
	assert_int_equal(event->unified.value, 10);
	assert_int_equal(event->unified.address, 0x9000);
	assert_int_equal(event->unified.why, 2);
}

#define COUNTER(word) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##word

/* On which device's row it stands, from where to where, and whether it has a
 * length. */
static void managed_memory_has_two_ends(void **state)
{
	static const struct {
		uint32_t kind, source, destination; /* as told */
		uint32_t device, from, to, length;  /* as shown */
	} rows[] = {
		{COUNTER(BYTES_TRANSFER_HTOD), 0, 3, 3, UINT32_MAX, 3, 100},
		{COUNTER(BYTES_TRANSFER_DTOH), 3, 0, 3, 3, UINT32_MAX, 100},
		{COUNTER(BYTES_TRANSFER_DTOD), 3, 5, 3, 3, 5, 100},
		{COUNTER(CPU_PAGE_FAULT_COUNT), 3, 0, 0, UINT32_MAX, 0, 0},
		{COUNTER(GPU_PAGE_FAULT), 3, 0, 3, 3, 0, 100},
		/* Of those that fight for it a bit each. */
		{COUNTER(THRASHING), 1 << 4, 0, 4, 1 << 4, 0, 0},
		{COUNTER(THRASHING), 0, 0, 0, 0, 0, 0},
		{COUNTER(THROTTLING), 3, 0, 3, 3, 0, 100},
		{COUNTER(REMOTE_MAP), 3, 5, 3, 3, 5, 0},
		/* Of a device past all that are known. */
		{COUNTER(GPU_PAGE_FAULT), GPU_DEVICES_MAX, 0, 0,
		 GPU_DEVICES_MAX, 0, 100},
	};

	(void)state;
	begin(NEWEST);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		decode_unified(rows[i].kind, rows[i].source,
			       rows[i].destination);
		assert_int_equal(event->unified.device, rows[i].device);
		assert_int_equal(event->unified.source, rows[i].from);
		assert_int_equal(event->unified.destination, rows[i].to);
		assert_int_equal(event->end_ticks - event->start_ticks,
				 rows[i].length);
	}
	fixture_end(session);
}

static void decode_jit(uint32_t operation, uint32_t entry)
{
	const CUpti_ActivityJit2 record = {
		.kind = CUPTI_ACTIVITY_KIND_JIT,
		.jitEntryType = (CUpti_ActivityJitEntryType)entry,
		.jitOperationType = (CUpti_ActivityJitOperationType)operation,
		.deviceId = 2,
		.start = 100,
		.end = 200,
		.correlationId = 8,
		.cacheSize = 64,
		.cachePath = (const char *)(uintptr_t)77,
		.threadId = 42};

	assert_decoded(record);
}

static void compilation_says_of_what(void **state)
{
	(void)state;
	begin(24);
	decode_jit(3, 2);
	assert_string_equal(name(), "JIT compile NVVM IR to PTX");
	assert_int_equal(event->extra, 42);
	assert_int_equal(event->jit.device, 2);
	assert_int_equal(event->jit.correlation, 8);
	assert_int_equal(event->jit.size_bytes, 64);
	assert_int_equal(event->jit.path, 77);
	decode_jit(1, 1);
	assert_string_equal(name(), "JIT cache load PTX to CUBIN");
	decode_jit(4, 3);
	assert_string_equal(name(), "JIT");
	/* Before 12.6 something else lies there. */
	session->head->gpu.cupti_version = 23;
	decode_jit(3, 1);
	assert_int_equal(event->extra, 0);
	fixture_end(session);
}

/* Records of 13.1, which older headers don't know. */
static void host_functions_have_their_thread(void **state)
{
	const struct {
		uint32_t kind, stream, context, device, correlation, graph;
		uint64_t node;
		uint32_t process, thread;
		uint64_t start, end;
	} node = {56, 7, 2, 3, 8, 5, 9, 41, 42, 100, 200};
	const struct {
		uint32_t kind, stream, context, device, correlation, process,
			thread, pad;
		uint64_t start, end;
	} launch = {58, 7, 2, 3, 8, 41, 42, 0, 100, 200};

	(void)state;
	begin(NEWEST);
	for (int i = 0; i < 2; i++) {
		if (i)
			assert_decoded(launch);
		else
			assert_decoded(node);
		assert_int_equal(event->extra, 42);
		assert_int_equal(event->gpu.stream, 7);
		assert_int_equal(event->gpu.context, 2);
		assert_int_equal(event->gpu.device, 3);
		assert_int_equal(event->gpu.correlation, 8);
		assert_int_equal(event->gpu.graph, i ? 0 : 5);
		assert_int_equal(event->gpu.graph_node, i ? 0 : 9);
	}
	fixture_end(session);
}

/* As long as in 12.0, each; a byte less, and it is left alone. */
static void what_is_too_short_is_unknown(void **state)
{
	static const struct {
		uint32_t kind, bytes;
	} rows[] = {{CUPTI_ACTIVITY_KIND_KERNEL, 188},
		    {CUPTI_ACTIVITY_KIND_MEMCPY, 80},
		    {CUPTI_ACTIVITY_KIND_MEMCPY2, 88},
		    {CUPTI_ACTIVITY_KIND_MEMSET, 80},
		    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 40},
		    {CUPTI_ACTIVITY_KIND_RUNTIME, 40},
		    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 40},
		    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, 24},
		    {CUPTI_ACTIVITY_KIND_OVERHEAD, 40},
		    {CUPTI_ACTIVITY_KIND_MEMORY2, 64},
		    {CUPTI_ACTIVITY_KIND_DEVICE, 152},
		    {CUPTI_ACTIVITY_KIND_CONTEXT, 16},
		    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, 72},
		    {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 64},
		    {CUPTI_ACTIVITY_KIND_JIT, 64},
		    {56, 56},
		    {58, 48}};

	(void)state;
	begin(NEWEST);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t record[40] = {rows[i].kind};

		assert_int_equal(decode(record, rows[i].bytes - 1),
				 CUPTI_RECORD_UNKNOWN);
		assert_int_not_equal(decode(record, rows[i].bytes),
				     CUPTI_RECORD_UNKNOWN);
	}
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_of_a_peer_copy),
		cmocka_unit_test(work_tells_its_contexts_device),
		cmocka_unit_test(a_memset_says_of_what),
		cmocka_unit_test(each_time_is_converted),
		cmocka_unit_test(overheads_have_their_names),
		cmocka_unit_test(calls_have_plain_names),
		cmocka_unit_test(waits_name_a_recording_where_there_is_one),
		cmocka_unit_test(events_are_timed_where_they_can_be),
		cmocka_unit_test(an_events_name_is_that_calls),
		cmocka_unit_test(parts_of_a_device_where_they_are_told),
		cmocka_unit_test(memory_is_a_devices_or_pinned),
		cmocka_unit_test(a_block_knows_its_own_pool),
		cmocka_unit_test(a_pool_is_its_devices),
		cmocka_unit_test(managed_memory_has_two_ends),
		cmocka_unit_test(compilation_says_of_what),
		cmocka_unit_test(host_functions_have_their_thread),
		cmocka_unit_test(what_is_too_short_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
