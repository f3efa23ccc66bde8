/* SPDX-License-Identifier: MIT */
/*
 * cudart_stream.c - libcudart.so.13: streams and events.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_event.h"

static cudaStream_t new_stream(unsigned int flags, int priority)
{
	return (cudaStream_t)stream_new(!(flags & cudaStreamNonBlocking),
					priority);
}

/* clang-format off */
CALL(cudaStreamCreate, v3020, (cudaStream_t *stream), (stream),
     (*stream = new_stream(0, 0), 0))

CALL(cudaStreamCreateWithFlags, v5000,
     (cudaStream_t *stream, unsigned int flags), (stream, flags),
     (*stream = new_stream(flags, 0), 0))

CALL(cudaStreamCreateWithPriority, v5050,
     (cudaStream_t *stream, unsigned int flags, int priority),
     (stream, flags, priority), (*stream = new_stream(flags, priority), 0))

CALL(cudaStreamGetPriority, v5050, (cudaStream_t stream, int *priority),
     (stream, priority),
     at(stream) ? (*priority = at(stream)->priority, 0) : NO_STREAM)

CALL(cudaDeviceGetStreamPriorityRange, v5050, (int *least, int *greatest),
     (least, greatest), (*least = 0, *greatest = -5, 0))

CALL(cudaStreamDestroy, v5050, (cudaStream_t stream), (stream),
     at(stream) ? stream_free(at(stream)) : NO_STREAM)

BOTH(cudaStreamSynchronize, v3020, ptsz, v7000, (cudaStream_t stream),
     (stream), at(stream) ? stream_synchronize(at(stream)) : NO_STREAM)

BOTH(cudaStreamQuery, v3020, ptsz, v7000, (cudaStream_t stream), (stream),
     !at(stream) ? NO_STREAM : stream_query(at(stream)) ? cudaSuccess :
         cudaErrorNotReady)

BOTH(cudaStreamWaitEvent, v3020, ptsz, v7000,
     (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
     (stream, event, flags),
     at(stream) && event ? event_wait(at(stream), (struct sim_event *)event) :
         NO_STREAM)
CALL(cudaEventCreate, v3020, (cudaEvent_t *event), (event),
     (*event = (cudaEvent_t)event_new(1), 0))

CALL(cudaEventCreateWithFlags, v3020, (cudaEvent_t *event, unsigned int flags),
     (event, flags),
     (*event = (cudaEvent_t)event_new(!(flags & cudaEventDisableTiming)), 0))

CALL(cudaEventDestroy, v3020, (cudaEvent_t event), (event),
     (event_free((struct sim_event *)event), 0))

BOTH(cudaEventRecord, v3020, ptsz, v7000,
     (cudaEvent_t event, cudaStream_t stream), (event, stream),
     at(stream) && event ? event_record((struct sim_event *)event, at(stream))
         : NO_STREAM)

CALL(cudaEventRecordWithFlags, v11010,
     (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
     (event, stream, flags),
     at(stream) && event ? event_record((struct sim_event *)event, at(stream))
         : NO_STREAM)

CALL(cudaEventQuery, v3020, (cudaEvent_t event), (event),
     event_query((struct sim_event *)event))

CALL(cudaEventSynchronize, v3020, (cudaEvent_t event), (event),
     event_synchronize((struct sim_event *)event))

CALL(cudaEventElapsedTime, v12080,
     (float *ms, cudaEvent_t start, cudaEvent_t end), (ms, start, end),
     event_elapsed((struct sim_event *)start, (struct sim_event *)end, ms))
/* clang-format on */
