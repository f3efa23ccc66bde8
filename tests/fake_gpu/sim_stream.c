/* SPDX-License-Identifier: MIT */
/*
 * sim_stream.c - streams as moments in the device's time.
 */
#include "tests/fake_gpu/sim_stream.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_callbacks.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_cupti.h"
#include "tests/fake_gpu/sim_graph.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include <driver_types.h>
#include <pthread.h>
#include <stdlib.h>

/* The numbers that real streams have: 7 is the null stream's, others follow. */
enum { NULL_STREAM_ID = 7, FIRST_STREAM_ID = 13, CONTEXTS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_stream null_stream = {
	.id = NULL_STREAM_ID, .is_null = 1, .blocking = 1};
static struct sim_stream *streams = &null_stream;
/* By the context, the primary ones together. */
static struct {
	uint32_t streams;  /* that there have been */
	int64_t gone_tail; /* of work in streams that are destroyed */
} contexts[CONTEXTS];
static int64_t device_tail;
static __thread struct sim_stream *own;

static CUpti_ActivityStreamFlag flag_of(const struct sim_stream *stream)
{
	if (stream->is_null)
		return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
	if (stream->blocking)
		return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
	return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
}

static void record_stream(const struct sim_stream *stream)
{
	const CUpti_ActivityStream record = {
		.kind = CUPTI_ACTIVITY_KIND_STREAM,
		.contextId =
			stream->context ? stream->context : life_context_id(),
		.streamId = stream->id,
		.priority = (uint32_t)stream->priority,
		.flag = flag_of(stream),
		.correlationId = sim_call_correlation(),
	};

	activity_emit(&record);
}

/* `lock` is held.  Each context counts its own, those that are gone too. */
static uint32_t next_id(uint32_t context)
{
	return FIRST_STREAM_ID + contexts[context % CONTEXTS].streams++;
}

struct sim_stream *stream_new(int blocking, int priority)
{
	struct sim_stream *stream = calloc(1, sizeof(*stream));

	stream->blocking = blocking;
	stream->priority = priority;
	pthread_mutex_lock(&lock);
	stream->context = life_own_context();
	stream->id = next_id(stream->context);
	stream->next = streams;
	streams = stream;
	pthread_mutex_unlock(&lock);
	record_stream(stream);
	callbacks_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, life_context(),
			   stream);
	return stream;
}

int stream_free(struct sim_stream *stream)
{
	struct sim_stream **place;
	int64_t *gone;

	if (stream->is_null)
		return CUDA_ERROR_INVALID_HANDLE;
	callbacks_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
			   life_context(), stream);
	pthread_mutex_lock(&lock);
	for (place = &streams; *place; place = &(*place)->next)
		if (*place == stream) {
			*place = stream->next;
			break;
		}
	gone = &contexts[stream->context % CONTEXTS].gone_tail;
	if (*gone < stream->tail)
		*gone = stream->tail;
	pthread_mutex_unlock(&lock);
	free(stream);
	return 0;
}

/* This thread's context's. */
struct sim_stream *stream_null(void)
{
	const uint32_t context = life_own_context();
	struct sim_stream *stream;

	if (!context)
		return &null_stream;
	pthread_mutex_lock(&lock);
	for (stream = streams; stream; stream = stream->next)
		if (stream->context == context && stream->is_null)
			break;
	if (!stream) {
		stream = calloc(1, sizeof(*stream));
		*stream = (struct sim_stream){.next = streams,
					      .id = NULL_STREAM_ID,
					      .context = context,
					      .is_null = 1,
					      .blocking = 1};
		streams = stream;
	}
	pthread_mutex_unlock(&lock);
	return stream;
}

struct sim_stream *stream_per_thread(void)
{
	if (!own)
		own = stream_new(1, 0);
	return own;
}

struct sim_stream *stream_of(const void *handle)
{
	struct sim_stream *stream;

	if (!handle || handle == (void *)cudaStreamLegacy)
		return stream_null();
	if (handle == (void *)cudaStreamPerThread)
		return stream_per_thread();
	pthread_mutex_lock(&lock);
	for (stream = streams; stream; stream = stream->next)
		if (stream == handle)
			break;
	pthread_mutex_unlock(&lock);
	return stream;
}

/* `lock` is held.  The null stream and the blocking ones wait for each
 * other. */
static int64_t ready_at(const struct sim_stream *stream)
{
	int64_t ready = stream->tail;

	if (!stream->blocking)
		return ready;
	for (const struct sim_stream *s = streams; s; s = s->next)
		if (s->blocking && s->tail > ready &&
		    s->context == stream->context &&
		    (stream->is_null || s->is_null))
			ready = s->tail;
	return ready;
}

int64_t stream_ready_at(struct sim_stream *stream)
{
	pthread_mutex_lock(&lock);
	const int64_t ready = ready_at(stream);
	pthread_mutex_unlock(&lock);
	return ready;
}

void stream_hold(struct sim_stream *stream, int64_t until_ns)
{
	pthread_mutex_lock(&lock);
	if (stream->tail < until_ns)
		stream->tail = until_ns;
	pthread_mutex_unlock(&lock);
}

void stream_place(struct sim_stream *stream, int kernel, int64_t duration_ns,
		  int64_t *start, int64_t *end)
{
	const int64_t soonest = clock_device_now() + sim_knobs()->latency_ns;

	pthread_mutex_lock(&lock);
	int64_t from = ready_at(stream);

	/* The second half of one kernel and the next run together. */
	if (kernel && sim_knobs()->overlap && stream->kernel_end == from)
		from = (stream->kernel_start + stream->kernel_end) / 2;
	if (kernel && activity_enabled(CUPTI_ACTIVITY_KIND_KERNEL) &&
	    from < device_tail)
		from = device_tail;
	if (from < soonest)
		from = soonest;
	*start = from;
	*end = from + duration_ns;
	if (stream->tail < *end)
		stream->tail = *end;
	if (kernel) {
		stream->kernel_start = *start;
		stream->kernel_end = *end;
		if (device_tail < *end)
			device_tail = *end;
	}
	pthread_mutex_unlock(&lock);
}

void stream_record_wait(CUpti_ActivitySynchronizationType type, uint64_t start,
			uint32_t stream, uint32_t event, uint64_t sync,
			int result)
{
	const CUpti_ActivitySynchronization2 record = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = type,
		.start = start,
		.end = clock_client_now(),
		.correlationId = sim_call_correlation(),
		.contextId = life_context_id(),
		.streamId = stream,
		.cudaEventId = event,
		.cudaEventSyncId = sync,
		.returnValue = (uint32_t)result,
	};

	activity_emit(&record);
}

int stream_query(struct sim_stream *stream)
{
	const uint64_t start = clock_client_now();
	const int idle = stream_ready_at(stream) <= clock_device_now();

	if (sim_cupti.all_sync_records)
		stream_record_wait(
			CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
			start, stream->id, CUPTI_SYNCHRONIZATION_INVALID_VALUE,
			0, idle ? 0 : CUDA_ERROR_NOT_READY);
	return idle;
}

int stream_synchronize(struct sim_stream *stream)
{
	const uint64_t start = clock_client_now();

	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	clock_sleep_until(stream_ready_at(stream));
	stream_record_wait(
		CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, start,
		stream->id, CUPTI_SYNCHRONIZATION_INVALID_VALUE, 0, 0);
	callbacks_synchronized(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED,
			       life_context(), (CUstream)stream);
	return 0;
}

void stream_synchronize_all(void)
{
	const uint64_t start = clock_client_now();
	int64_t end;

	pthread_mutex_lock(&lock);
	end = contexts[life_own_context() % CONTEXTS].gone_tail;
	for (const struct sim_stream *s = streams; s; s = s->next)
		if (s->context == life_own_context() && s->tail > end)
			end = s->tail;
	pthread_mutex_unlock(&lock);
	clock_sleep_until(end);
	stream_record_wait(
		CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, start,
		CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		CUPTI_SYNCHRONIZATION_INVALID_VALUE, 0, 0);
	callbacks_synchronized(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED,
			       life_context(), NULL);
}

struct sim_graph *stream_find_capture(uint32_t graph)
{
	struct sim_graph *found = NULL;

	pthread_mutex_lock(&lock);
	for (const struct sim_stream *s = streams; s && !found; s = s->next)
		if (s->capture && graph_id(s->capture) == graph)
			found = s->capture;
	pthread_mutex_unlock(&lock);
	return found;
}

void stream_leave_capture(const struct sim_graph *graph)
{
	pthread_mutex_lock(&lock);
	for (struct sim_stream *s = streams; s; s = s->next)
		if (s->capture == graph)
			s->capture = NULL;
	pthread_mutex_unlock(&lock);
}

void stream_dump(void)
{
	const struct sim_stream *all[64];
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (const struct sim_stream *s = streams; s && count < 64; s = s->next)
		all[count++] = s;
	pthread_mutex_unlock(&lock);
	while (count)
		record_stream(all[--count]);
}
