/* SPDX-License-Identifier: MIT */
/*
 * cudart_stream.c - libcudart.so.13: streams and events.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_event.h"

static cudaError_t create(struct sim_call *call, cudaStream_t *stream,
			  unsigned int flags, int priority)
{
	if (sim_call_begin(call))
		*stream = (cudaStream_t)stream_new(
			!(flags & cudaStreamNonBlocking), priority);
	return cudart_end(call);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	cudaStreamCreate_v3020_params params = {stream};
	struct sim_call call = RUNTIME_CALL(cudaStreamCreate_v3020, &params);

	return create(&call, stream, 0, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	cudaStreamCreateWithFlags_v5000_params params = {stream, flags};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamCreateWithFlags_v5000, &params);

	return create(&call, stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream,
					 unsigned int flags, int priority)
{
	cudaStreamCreateWithPriority_v5050_params params = {stream, flags,
							    priority};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamCreateWithPriority_v5050, &params);

	return create(&call, stream, flags, priority);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	cudaStreamGetPriority_v5050_params params = {stream, priority};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamGetPriority_v5050, &params);
	const struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call)) {
		if (s)
			*priority = s->priority;
		else
			call.result = cudaErrorInvalidResourceHandle;
	}
	return cudart_end(&call);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	cudaDeviceGetStreamPriorityRange_v5050_params params = {least,
								greatest};
	struct sim_call call =
		RUNTIME_CALL(cudaDeviceGetStreamPriorityRange_v5050, &params);

	if (sim_call_begin(&call)) {
		*least = 0;
		*greatest = -5;
	}
	return cudart_end(&call);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	cudaStreamDestroy_v5050_params params = {stream};
	struct sim_call call = RUNTIME_CALL(cudaStreamDestroy_v5050, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = s ? stream_free(s)
				: (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	cudaStreamSynchronize_v3020_params params = {stream};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamSynchronize_v3020, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = s ? stream_synchronize(s)
				: (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	cudaStreamQuery_v3020_params params = {stream};
	struct sim_call call = RUNTIME_CALL(cudaStreamQuery_v3020, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = !s		? cudaErrorInvalidResourceHandle
			      : stream_query(s) ? cudaSuccess
						: cudaErrorNotReady;
	return cudart_end(&call);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
				unsigned int flags)
{
	cudaStreamWaitEvent_v3020_params params = {stream, event, flags};
	struct sim_call call = RUNTIME_CALL(cudaStreamWaitEvent_v3020, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = s && event
				      ? event_wait(s, (struct sim_event *)event)
				      : (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	cudaEventCreate_v3020_params params = {event};
	struct sim_call call = RUNTIME_CALL(cudaEventCreate_v3020, &params);

	if (sim_call_begin(&call))
		*event = (cudaEvent_t)event_new(1);
	return cudart_end(&call);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	cudaEventCreateWithFlags_v3020_params params = {event, flags};
	struct sim_call call =
		RUNTIME_CALL(cudaEventCreateWithFlags_v3020, &params);

	if (sim_call_begin(&call))
		*event = (cudaEvent_t)event_new(
			!(flags & cudaEventDisableTiming));
	return cudart_end(&call);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	cudaEventDestroy_v3020_params params = {event};
	struct sim_call call = RUNTIME_CALL(cudaEventDestroy_v3020, &params);

	if (sim_call_begin(&call))
		event_free((struct sim_event *)event);
	return cudart_end(&call);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	cudaEventRecord_v3020_params params = {event, stream};
	struct sim_call call = RUNTIME_CALL(cudaEventRecord_v3020, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result =
			s && event ? event_record((struct sim_event *)event, s)
				   : (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
				     unsigned int flags)
{
	cudaEventRecordWithFlags_v11010_params params = {event, stream, flags};
	struct sim_call call =
		RUNTIME_CALL(cudaEventRecordWithFlags_v11010, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result =
			s && event ? event_record((struct sim_event *)event, s)
				   : (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	cudaEventQuery_v3020_params params = {event};
	struct sim_call call = RUNTIME_CALL(cudaEventQuery_v3020, &params);

	if (sim_call_begin(&call))
		call.result = event_query((struct sim_event *)event);
	return cudart_end(&call);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	cudaEventSynchronize_v3020_params params = {event};
	struct sim_call call =
		RUNTIME_CALL(cudaEventSynchronize_v3020, &params);

	if (sim_call_begin(&call))
		call.result = event_synchronize((struct sim_event *)event);
	return cudart_end(&call);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	cudaEventElapsedTime_v12080_params params = {ms, start, end};
	struct sim_call call =
		RUNTIME_CALL(cudaEventElapsedTime_v12080, &params);

	if (sim_call_begin(&call))
		call.result = event_elapsed((struct sim_event *)start,
					    (struct sim_event *)end, ms);
	return cudart_end(&call);
}
