/* SPDX-License-Identifier: MIT */
/*
 * sim_event.c - moments, and waiting for them.
 */
#include "tests/fake_gpu/sim_event.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_cupti.h"
#include "tests/fake_gpu/sim_graph.h"
#include "tests/fake_gpu/sim_life.h"
#include <stdlib.h>

struct sim_event {
	uint32_t id;
	int timing;
	int recorded;
	int64_t moment; /* of the device's clock */
	uint64_t sync;	/* of its newest recording */
	uint32_t stream;
	uint32_t capture; /* the graph in whose capture it was recorded */
};

/* Each context counts its own; 0: the primary ones together. */
static _Atomic uint32_t last_id[MOST_MADE];
static _Atomic uint64_t last_sync[MOST_MADE];

struct sim_event *event_new(int timing)
{
	struct sim_event *event = calloc(1, sizeof(*event));

	event->id = ++last_id[life_own_context() % MOST_MADE];
	event->timing = timing;
	return event;
}

void event_free(struct sim_event *event)
{
	free(event);
}

static void record_event(const struct sim_event *event)
{
	const CUpti_ActivityCudaEvent2 record = {
		.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
		.correlationId = sim_call_correlation(),
		.contextId = life_context_id(),
		.streamId = event->stream,
		.eventId = event->id,
		.deviceId = life_device(),
		.cudaEventSyncId = event->sync,
	};

	activity_emit_later(&record, event->stream,
			    sim_cupti.event_timestamps ? event->moment : 0,
			    event->moment);
}

int event_record(struct sim_event *event, struct sim_stream *stream)
{
	const int64_t now = clock_device_now();
	const int64_t ready = stream_ready_at(stream);

	if (stream->capture) {
		event->capture = graph_id(stream->capture);
		return 0;
	}
	event->capture = 0;
	event->recorded = 1;
	event->moment = ready > now ? ready : now;
	event->stream = stream->id;
	event->sync = ++last_sync[life_own_context() % MOST_MADE];
	record_event(event);
	return 0;
}

static int done(const struct sim_event *event)
{
	return !event->recorded || event->moment <= clock_device_now();
}

int event_query(struct sim_event *event)
{
	const uint64_t start = clock_client_now();
	const int result = done(event) ? 0 : CUDA_ERROR_NOT_READY;

	if (sim_cupti.all_sync_records)
		stream_record_wait(
			CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE,
			start, CUPTI_SYNCHRONIZATION_INVALID_VALUE, event->id,
			event->sync, result);
	return result;
}

int event_synchronize(struct sim_event *event)
{
	const uint64_t start = clock_client_now();

	if (event->recorded)
		clock_sleep_until(event->moment);
	stream_record_wait(
		CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, start,
		CUPTI_SYNCHRONIZATION_INVALID_VALUE, event->id, event->sync, 0);
	return 0;
}

int event_wait(struct sim_stream *stream, struct sim_event *event)
{
	const uint64_t start = clock_client_now();

	if (event->capture) {
		stream->capture = stream_find_capture(event->capture);
		return stream->capture ? 0
				       : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	if (event->recorded)
		stream_hold(stream, event->moment);
	stream_record_wait(
		CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, start,
		stream->id, event->id, event->sync, 0);
	return 0;
}

int event_elapsed(struct sim_event *from, struct sim_event *to, float *ms)
{
	if (!from->recorded || !to->recorded || !from->timing || !to->timing)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!done(from) || !done(to))
		return CUDA_ERROR_NOT_READY;
	*ms = (float)(to->moment - from->moment) / 1e6f;
	return 0;
}
