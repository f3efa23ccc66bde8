/* SPDX-License-Identifier: MIT */
/*
 * test_cupti.c - records of CUPTI become events: made by hand, walked
 * by whatever libcupti this machine has, which needs no GPU for that.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/names.h"
#include "collector/system/cupti_versions.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_side.h"
#include "preload/cuda/cupti_source.h"
#include <string.h>
#include <unistd.h>

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_pinned.h"

/* Of those that are gone the places are free again. */
static void events_without_room_are_said(void **state)
{
	struct session *session = fixture_begin(4);
	uintptr_t event;
	const CUpti_CallbackData gone = {.callbackSite = CUPTI_API_ENTER,
					 .functionParams = &event};

	(void)state;
	cupti_events_forget();
	for (event = 1; event <= 4096; event++) {
		cupti_side_name_event((const void *)event, "named");
		cupti_events_call(CUPTI_EVENT_DESTROYED, &gone);
	}
	assert_int_equal(load_relaxed(&session->head->note_count), 0);
	for (event = 1; event <= 4096; event++)
		cupti_side_name_event((const void *)event, "named");
	assert_int_equal(load_relaxed(&session->head->note_count), 1);
	cupti_events_forget();
	fixture_end(session);
}

static _Alignas(64) uint8_t buffer[8192];
static size_t used;

static void *put(CUpti_ActivityKind kind, size_t bytes)
{
	CUpti_Activity *record = (CUpti_Activity *)(buffer + used);

	memset(record, 0, bytes);
	record->kind = kind;
	used += bytes;
	return record;
}

static void begin(void)
{
	char path[256];

	used = 0;
	cupti_record_forget();
	if (cupti_library_open("auto", path, sizeof(path)))
		skip();
}

/* The next record, decoded. */
static enum cupti_record next(struct session *session, CUpti_Activity **record,
			      struct cupti_event *made)
{
	assert_int_equal(cupti.cuptiActivityGetNextRecord(buffer, used, record),
			 CUPTI_SUCCESS);
	return cupti_record_decode(session, *record,
				   used - (size_t)((uint8_t *)*record - buffer),
				   made);
}

static void put_some(struct session *session)
{
	CUpti_ActivityKernel10 *kernel =
		put(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(*kernel));
	CUpti_ActivityMemcpy6 *copy =
		put(CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(*copy));
	CUpti_ActivityAPI *call =
		put(CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(*call));
	CUpti_ActivitySynchronization2 *wait =
		put(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(*wait));

	kernel->start = 1000;
	kernel->end = 2000;
	kernel->streamId = 7;
	kernel->correlationId = 11;
	kernel->gridX = 4;
	kernel->blockZ = 3;
	kernel->registersPerThread = 96;
	kernel->graphNodeId = 99;
	kernel->name = (const char *)(uintptr_t)names_intern_string(session,
								    "forward");
	copy->start = 3000;
	copy->end = 4000;
	copy->bytes = 512;
	copy->copyKind = 1;
	copy->srcKind = 2;
	copy->dstKind = 3;
	copy->correlationId = 12;
	call->cbid = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;
	call->start = 500;
	call->end = 600;
	call->threadId = 42;
	call->correlationId = 12;
	wait->type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
	wait->start = 700;
	wait->end = 800;
	wait->streamId = 7;
}

static void records_become_events(void **state)
{
	struct session *session = fixture_begin(4);
	CUpti_Activity *record = NULL;
	struct cupti_event made;
	const struct event *event = &made.event;

	(void)state;
	begin();
	put_some(session);
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_EVENT);
	assert_int_equal(event->kind, EVENT_GPU_KERNEL);
	assert_int_equal(event->flags, EVENT_TWO_SLOTS);
	assert_string_equal(names_text(session, event->name, NULL), "forward");
	assert_int_equal(event->start_ticks, 1000);
	assert_int_equal(event->gpu.stream, 7);
	assert_int_equal(event->gpu.correlation, 11);
	assert_int_equal(event->gpu.graph_node, 99);
	assert_int_equal(made.kernel.grid[0], 4);
	assert_int_equal(made.kernel.block[2], 3);
	assert_int_equal(made.kernel.registers, 96);
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_EVENT);
	assert_int_equal(event->kind, EVENT_GPU_COPY);
	assert_int_equal(event->gpu.bytes, 512);
	assert_int_equal(made.copy.source, 2);
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_EVENT);
	assert_int_equal(event->kind, EVENT_GPU_API);
	assert_string_equal(names_text(session, event->name, NULL),
			    "cudaMemcpyAsync");
	assert_true(event->api.is_launch);
	assert_int_equal(event->extra, 42);
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_EVENT);
	assert_int_equal(event->kind, EVENT_GPU_SYNC);
	assert_int_equal(event->extra, GPU_SYNC_STREAM);
	assert_int_not_equal(
		cupti.cuptiActivityGetNextRecord(buffer, used, &record),
		CUPTI_SUCCESS);
	fixture_end(session);
}

static void hidden_devices_are_left_out(void **state)
{
	struct session *session = fixture_begin(4);
	const struct gpu_device *known = session->head->gpu.device;
	CUpti_ActivityDevice5 *hidden, *seen;
	CUpti_Activity *record = NULL;
	struct cupti_event made;

	(void)state;
	begin();
	seen = put(CUPTI_ACTIVITY_KIND_DEVICE, sizeof(*seen));
	hidden = put(CUPTI_ACTIVITY_KIND_DEVICE, sizeof(*hidden));
	seen->isCudaVisible = 1;
	seen->numMultiprocessors = 132;
	hidden->numMultiprocessors = 16;
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_NOTHING);
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_NOTHING);
	assert_int_equal(known[0].multiprocessors, 132);
	fixture_end(session);
}

static bool is_noted(const struct session *session, const char *words)
{
	for (uint32_t i = 0; i < load_relaxed(&session->head->note_count); i++)
		if (strstr(session->head->notes[i], words))
			return true;
	return false;
}

static void devices_and_streams_without_room_are_said(void **state)
{
	struct session *session = fixture_begin(4);
	CUpti_ActivityDevice5 *device;
	CUpti_Activity *record = NULL;
	struct cupti_event made;

	(void)state;
	begin();
	device = put(CUPTI_ACTIVITY_KIND_DEVICE, sizeof(*device));
	device->isCudaVisible = 1;
	device->id = GPU_DEVICES_MAX;
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_NOTHING);
	assert_true(is_noted(session, "devices past the first 16"));
	for (uint32_t i = 0; i <= GPU_STREAMS_MAX; i++) {
		CUpti_ActivityStream stream = {
			.kind = CUPTI_ACTIVITY_KIND_STREAM,
			.contextId = 1,
			.streamId = i,
		};

		assert_int_equal(is_noted(session, "streams past the first"),
				 0);
		cupti_record_decode(session, (CUpti_Activity *)&stream,
				    sizeof(stream), &made);
	}
	assert_true(is_noted(session, "streams past the first 1024"));
	fixture_end(session);
}

/* A program that resets its device makes contexts without end. */
static void each_context_keeps_its_device(void **state)
{
	struct session *session = fixture_begin(4);
	struct cupti_event made;

	(void)state;
	begin();
	for (uint32_t i = 1; i <= 80; i++) {
		CUpti_ActivityContext2 context = {
			.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
			.contextId = i,
			.deviceId = i == 2 ? 5 : 3,
		};

		cupti_record_decode(session, (CUpti_Activity *)&context,
				    sizeof(context), &made);
	}
	for (uint32_t i = 1; i <= 80; i++) {
		CUpti_ActivitySynchronization2 wait = {
			.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
			.contextId = i,
			.start = 700,
			.end = 800,
		};

		assert_int_equal(cupti_record_decode(session,
						     (CUpti_Activity *)&wait,
						     sizeof(wait), &made),
				 CUPTI_RECORD_EVENT);
		assert_int_equal(made.event.gpu.device, i == 2 ? 5 : 3);
	}
	fixture_end(session);
}

static void calls_that_build_graphs_launch_nothing(void **state)
{
	(void)state;
	assert_int_equal(cupti_launch_kind("cudaGraphAddMemcpyNode_v10000"),
			 GPU_LAUNCH_NONE);
	assert_int_equal(cupti_launch_kind("cuGraphExecMemsetNodeSetParams"),
			 GPU_LAUNCH_NONE);
	assert_int_equal(cupti_launch_kind("cudaGraphLaunch_ptsz_v10000"),
			 GPU_LAUNCH_GRAPH);
	assert_int_equal(cupti_launch_kind("cuLaunchKernelEx"),
			 GPU_LAUNCH_KERNEL);
	assert_int_equal(cupti_launch_kind("cuMemcpyHtoDAsync_v2"),
			 GPU_LAUNCH_COPY);
	assert_int_equal(cupti_launch_kind("cudaLaunchHostFunc_v10000"),
			 GPU_LAUNCH_NONE);
}

static void work_without_times_is_left_out(void **state)
{
	struct session *session = fixture_begin(4);
	CUpti_ActivityKernel10 *kernel;
	CUpti_Activity *record = NULL;
	struct cupti_event made;

	(void)state;
	begin();
	kernel = put(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(*kernel));
	kernel->correlationId = 5;
	assert_int_equal(next(session, &record, &made), CUPTI_RECORD_NO_TIME);
	fixture_end(session);
}

/* The host's, whichever device's context it was pinned in. */
static void pinned_memory_is_no_devices(void **state)
{
	struct session *session = fixture_begin(4);
	struct cupti_event made;
	CUpti_ActivityMemory4 memory = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
		.deviceId = 3,
		.timestamp = clock_ticks(),
	};
	const CUpti_Activity *record = (const CUpti_Activity *)&memory;

	(void)state;
	begin();
	assert_int_equal(
		cupti_record_decode(session, record, sizeof(memory), &made),
		CUPTI_RECORD_EVENT);
	assert_int_equal(made.event.memory.device, 0);
	memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	cupti_record_decode(session, record, sizeof(memory), &made);
	assert_int_equal(made.event.memory.device, 3);
	fixture_end(session);
}

static enum cupti_record decoded(struct session *session, uint64_t start,
				 uint64_t end)
{
	struct cupti_event made;
	CUpti_ActivityKernel10 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.correlationId = 5,
		.start = start,
		.end = end};

	return cupti_record_decode(session, (CUpti_Activity *)&kernel,
				   sizeof(kernel), &made);
}

/* Another's clock: before we came, or to come.  No longer before than a machine
 * is up. */
static void times_that_cannot_be_are_left_out(void **state)
{
	struct session *session = fixture_begin(4);
	const uint64_t ten = 10 * clock_ticks_per_second(&session->head->clock);
	const uint64_t now = clock_ticks();

	(void)state;
	assert_true(now > ten);
	cupti_record_start();
	assert_int_equal(decoded(session, now, now + 100), CUPTI_RECORD_EVENT);
	assert_int_equal(decoded(session, now - ten, now - ten + 100),
			 CUPTI_RECORD_NO_TIME);
	assert_int_equal(decoded(session, now, now + ten),
			 CUPTI_RECORD_NO_TIME);
	assert_int_equal(decoded(session, now + 100, now),
			 CUPTI_RECORD_NO_TIME);
	cupti_record_forget();
	fixture_end(session);
}

static void short_and_strange_records_are_unknown(void **state)
{
	struct session *session = fixture_begin(4);
	CUpti_ActivityKernel10 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
	struct cupti_event made;

	(void)state;
	begin();
	assert_int_equal(cupti_record_decode(session, (CUpti_Activity *)&kernel,
					     64, &made),
			 CUPTI_RECORD_UNKNOWN);
	kernel.kind = CUPTI_ACTIVITY_KIND_MODULE;
	assert_int_equal(cupti_record_decode(session, (CUpti_Activity *)&kernel,
					     sizeof(kernel), &made),
			 CUPTI_RECORD_UNKNOWN);
	fixture_end(session);
}

static uint64_t correlation_of(struct session *session, uint32_t number)
{
	CUpti_ActivityAPI call = {.kind = CUPTI_ACTIVITY_KIND_RUNTIME,
				  .start = 1,
				  .end = 2,
				  .correlationId = number};
	struct cupti_event made;

	assert_int_equal(cupti_record_decode(session, (CUpti_Activity *)&call,
					     sizeof(call), &made),
			 CUPTI_RECORD_EVENT);
	return made.event.api.correlation;
}

static void numbers_go_on_where_cupti_wraps(void **state)
{
	struct session *session = fixture_begin(4);
	const uint64_t round = UINT64_C(1) << 32;

	(void)state;
	begin();
	assert_int_equal(correlation_of(session, 0), 0);
	assert_int_equal(correlation_of(session, 0xfffffff0), 0xfffffff0);
	assert_int_equal(correlation_of(session, 3), round + 3);
	assert_int_equal(correlation_of(session, 0xfffffff1), 0xfffffff1);
	assert_int_equal(correlation_of(session, 4), round + 4);
	/* What came first was counted after the wrap. */
	cupti_record_forget();
	assert_int_equal(correlation_of(session, 3), 3);
	assert_int_equal(correlation_of(session, 0xfffffff0), 0xfffffff0);
	assert_int_equal(correlation_of(session, 4), 4);
	fixture_end(session);
}

static void long_names_are_kept_whole(void **state)
{
	struct session *session = fixture_begin(4);
	char name[5001];
	CUpti_ActivityKernel10 *kernel;
	size_t room, most, len;
	uint8_t *bytes;

	(void)state;
	begin();
	memset(name, 'k', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(cupti_buffers_start(true), 0);
	cupti_buffers_request(&bytes, &room, &most);
	kernel = (CUpti_ActivityKernel10 *)(void *)bytes;
	kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	kernel->name = name;
	cupti_buffers_complete(NULL, 0, bytes, room, sizeof(*kernel));
	names_text(session, (uint32_t)(uintptr_t)kernel->name, &len);
	assert_int_equal(len, sizeof(name) - 1);
	assert_non_null(cupti_buffers_take());
	cupti_buffers_forget();
	fixture_end(session);
}

/* Each that there is, and what comes when there is no other. */
static uint8_t *one_too_many(bool may_refuse, size_t *room)
{
	size_t most;
	uint8_t *bytes;

	assert_int_equal(cupti_buffers_start(may_refuse), 0);
	for (unsigned int i = 0; i < CUPTI_BUFFERS_MAX; i++) {
		cupti_buffers_request(&bytes, room, &most);
		assert_non_null(bytes);
	}
	cupti_buffers_request(&bytes, room, &most);
	return bytes;
}

/* Before 12.9 CUPTI follows a refusal: it gets what is thrown away. */
static void without_room_a_buffer_is_refused_or_lost(void **state)
{
	struct session *session = fixture_begin(4);
	const uint64_t before = cupti_buffers_refused();
	uint8_t *bytes;
	size_t room;

	(void)state;
	begin();
	cupti_versions_start(26);
	bytes = one_too_many(!cupti_has(CUPTI_DEFECT_NULL_BUFFER), &room);
	assert_non_null(bytes);
	assert_true(room >= 4096);
	memset(bytes, 0xff, room);
	cupti_buffers_complete(NULL, 0, bytes, room, room);
	assert_null(cupti_buffers_take());
	assert_int_equal(cupti_buffers_refused(), before + 1);
	cupti_buffers_forget();

	cupti_versions_start(27);
	assert_null(one_too_many(!cupti_has(CUPTI_DEFECT_NULL_BUFFER), &room));
	assert_int_equal(room, 0);
	assert_int_equal(cupti_buffers_refused(), before + 2);
	cupti_buffers_forget();
	cupti_versions_start(0);
	fixture_end(session);
}

static uint8_t *returned;

static void CUPTIAPI another_takes(CUcontext context, uint32_t stream,
				   uint8_t *bytes, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size, (void)valid;
	returned = bytes;
}

/* However large it is, and whatever this CUPTI does with a refusal. */
static void a_buffer_of_another_goes_to_it(void **state)
{
	static uint8_t others[128 << 10];

	(void)state;
	for (int may_refuse = 0; may_refuse < 2; may_refuse++) {
		assert_int_equal(cupti_buffers_start(may_refuse), 0);
		cupti_buffers_strange(another_takes);
		for (size_t size = 4096; size <= sizeof(others); size *= 2) {
			returned = NULL;
			cupti_buffers_complete(NULL, 0, others, size, size);
			assert_ptr_equal(returned, others);
			others[size - 1] = 1;
		}
		cupti_buffers_strange(NULL);
		cupti_buffers_forget();
	}
}

/* Kinds as they are, all else noise: no fault, and no event that names what
 * isn't there. */
/* Its texts are numbers by then, and it is on the writer's list. */
static void a_buffer_that_comes_twice_is_shown_once(void **state)
{
	struct session *session = fixture_begin(4);
	const uint64_t before = cupti_buffers_refused();
	CUpti_ActivityKernel10 *record;
	struct cupti_buffer *taken;
	size_t room, most;
	uint8_t *bytes;

	(void)state;
	assert_int_equal(cupti_buffers_start(true), 0);
	cupti_buffers_request(&bytes, &room, &most);
	begin();
	record = put(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(*record));
	record->name = "once";
	memcpy(bytes, buffer, used);
	cupti_buffers_complete(NULL, 0, bytes, room, used);
	cupti_buffers_complete(NULL, 0, bytes, room, used);
	taken = cupti_buffers_take();
	assert_non_null(taken);
	assert_null(cupti_buffers_next(taken));
	assert_int_equal(load_relaxed(&session->head->note_count), 1);
	cupti_buffers_release(taken);
	cupti_buffers_complete(NULL, 0, bytes, room, used);
	assert_null(cupti_buffers_take());

	/* One that was given up comes after all. */
	cupti_buffers_request(&bytes, &room, &most);
	memcpy(bytes, buffer, used);
	cupti_buffers_lose(UINT64_MAX);
	assert_int_equal(cupti_buffers_refused(), before + 1);
	cupti_buffers_complete(NULL, 0, bytes, room, used);
	assert_int_equal(cupti_buffers_refused(), before);
	assert_non_null(cupti_buffers_take());
	cupti_buffers_forget();
	fixture_end(session);
}

static void noise_does_no_harm(void **state)
{
	struct session *session = fixture_begin(4);
	uint64_t noise = 88172645463325252u;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 20000; i++) {
		CUpti_Activity *record = (CUpti_Activity *)buffer;
		struct cupti_event made;

		for (size_t at = 0; at < 256; at += 8) {
			noise ^= noise << 13;
			noise ^= noise >> 7;
			noise ^= noise << 17;
			memcpy(buffer + at, &noise, 8);
		}
		record->kind = (CUpti_ActivityKind)(i % 64);
		cupti_record_decode(session, record, noise % 257, &made);
	}
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_without_room_are_said),
		cmocka_unit_test(records_become_events),
		cmocka_unit_test(hidden_devices_are_left_out),
		cmocka_unit_test(calls_that_build_graphs_launch_nothing),
		cmocka_unit_test(devices_and_streams_without_room_are_said),
		cmocka_unit_test(each_context_keeps_its_device),
		cmocka_unit_test(work_without_times_is_left_out),
		cmocka_unit_test(pinned_memory_is_no_devices),
		cmocka_unit_test(times_that_cannot_be_are_left_out),
		cmocka_unit_test(short_and_strange_records_are_unknown),
		cmocka_unit_test(numbers_go_on_where_cupti_wraps),
		cmocka_unit_test(long_names_are_kept_whole),
		cmocka_unit_test(without_room_a_buffer_is_refused_or_lost),
		cmocka_unit_test(a_buffer_of_another_goes_to_it),
		cmocka_unit_test(a_buffer_that_comes_twice_is_shown_once),
		cmocka_unit_test(noise_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no records without CUDA's headers");
}

#endif
