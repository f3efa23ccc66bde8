/* SPDX-License-Identifier: MIT */
/*
 * cudart_per_thread.c - libcudart.so.13: the entry points of programs that were
 * built with --default-stream per-thread, where stream 0 is each thread's own.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_event.h"
#include "tests/fake_gpu/sim_graph.h"
#include "tests/fake_gpu/sim_memory.h"
#include "tests/fake_gpu/sim_work.h"

/* The headers give them these names only by macros. */
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes,
			    enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes,
				 enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset_ptds(void *to, int value, size_t count);
cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t count,
				 cudaStream_t stream);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event,
				     unsigned int flags);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaMallocAsync_ptsz(void **pointer, size_t size,
				 cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void *pointer, cudaStream_t stream);
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable,
				 cudaStream_t stream);
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream,
					enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph);

static struct sim_stream *own_or(cudaStream_t stream)
{
	return stream ? stream_of(stream) : stream_per_thread();
}

static int pageable(const void *address)
{
	return memory_kind(address) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes,
			    enum cudaMemcpyKind kind)
{
	cudaMemcpy_ptds_v7000_params params = {to, from, bytes, kind};
	struct sim_call call = RUNTIME_CALL(cudaMemcpy_ptds_v7000, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(own_or(NULL), to, from, bytes, 0);
	return cudart_end(&call);
}

cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes,
				 enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaMemcpyAsync_ptsz_v7000_params params = {to, from, bytes, kind,
						    stream};
	struct sim_call call =
		RUNTIME_CALL(cudaMemcpyAsync_ptsz_v7000, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(own_or(stream), to, from, bytes,
					!pageable(to) && !pageable(from));
	return cudart_end(&call);
}

cudaError_t cudaMemset_ptds(void *to, int value, size_t count)
{
	cudaMemset_ptds_v7000_params params = {to, value, count};
	struct sim_call call = RUNTIME_CALL(cudaMemset_ptds_v7000, &params);

	if (sim_call_begin(&call))
		call.result =
			work_set(own_or(NULL), to, (uint8_t)value, 1, count, 1);
	return cudart_end(&call);
}

cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t count,
				 cudaStream_t stream)
{
	cudaMemsetAsync_ptsz_v7000_params params = {to, value, count, stream};
	struct sim_call call =
		RUNTIME_CALL(cudaMemsetAsync_ptsz_v7000, &params);

	if (sim_call_begin(&call))
		call.result = work_set(own_or(stream), to, (uint8_t)value, 1,
				       count, 1);
	return cudart_end(&call);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
	cudaStreamSynchronize_ptsz_v7000_params params = {stream};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamSynchronize_ptsz_v7000, &params);
	struct sim_stream *s = own_or(stream);

	if (sim_call_begin(&call))
		call.result = s ? stream_synchronize(s)
				: (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream)
{
	cudaStreamQuery_ptsz_v7000_params params = {stream};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamQuery_ptsz_v7000, &params);
	struct sim_stream *s = own_or(stream);

	if (sim_call_begin(&call))
		call.result = !s		? cudaErrorInvalidResourceHandle
			      : stream_query(s) ? cudaSuccess
						: cudaErrorNotReady;
	return cudart_end(&call);
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event,
				     unsigned int flags)
{
	cudaStreamWaitEvent_ptsz_v7000_params params = {stream, event, flags};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamWaitEvent_ptsz_v7000, &params);
	struct sim_stream *s = own_or(stream);

	if (sim_call_begin(&call))
		call.result = s && event
				      ? event_wait(s, (struct sim_event *)event)
				      : (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
	cudaEventRecord_ptsz_v7000_params params = {event, stream};
	struct sim_call call =
		RUNTIME_CALL(cudaEventRecord_ptsz_v7000, &params);
	struct sim_stream *s = own_or(stream);

	if (sim_call_begin(&call))
		call.result =
			s && event ? event_record((struct sim_event *)event, s)
				   : (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaMallocAsync_ptsz(void **pointer, size_t size,
				 cudaStream_t stream)
{
	cudaMallocAsync_ptsz_v11020_params params = {pointer, size, stream};
	struct sim_call call =
		RUNTIME_CALL(cudaMallocAsync_ptsz_v11020, &params);
	const struct sim_stream *s = own_or(stream);

	if (sim_call_begin(&call))
		call.result =
			s ? memory_new(pointer, size,
				       CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, s->id)
			  : (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaFreeAsync_ptsz(void *pointer, cudaStream_t stream)
{
	cudaFreeAsync_ptsz_v11020_params params = {pointer, stream};
	struct sim_call call = RUNTIME_CALL(cudaFreeAsync_ptsz_v11020, &params);
	const struct sim_stream *s = own_or(stream);

	if (sim_call_begin(&call))
		call.result = s ? memory_free(pointer,
					      CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
					      s->id)
				: (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable,
				 cudaStream_t stream)
{
	cudaGraphLaunch_ptsz_v10000_params params = {executable, stream};
	struct sim_call call =
		RUNTIME_CALL(cudaGraphLaunch_ptsz_v10000, &params);

	if (sim_call_begin(&call))
		call.result = graph_launch((struct sim_graph *)executable,
					   own_or(stream));
	return cudart_end(&call);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream,
					enum cudaStreamCaptureMode mode)
{
	cudaStreamBeginCapture_ptsz_v10000_params params = {stream, mode};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamBeginCapture_ptsz_v10000, &params);

	if (sim_call_begin(&call))
		call.result = graph_begin_capture(own_or(stream));
	return cudart_end(&call);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph)
{
	cudaStreamEndCapture_ptsz_v10000_params params = {stream, graph};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamEndCapture_ptsz_v10000, &params);

	if (sim_call_begin(&call))
		call.result = graph_end_capture(own_or(stream),
						(struct sim_graph **)graph);
	return cudart_end(&call);
}
