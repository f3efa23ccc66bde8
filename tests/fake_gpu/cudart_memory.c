/* SPDX-License-Identifier: MIT */
/*
 * cudart_memory.c - libcudart.so.13: allocation, copies, memsets.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_memory.h"
#include "tests/fake_gpu/sim_work.h"
#include <string.h>

#define ON_DEVICE CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
#define PINNED	  CUPTI_ACTIVITY_MEMORY_KIND_PINNED
#define MANAGED	  CUPTI_ACTIVITY_MEMORY_KIND_MANAGED

cudaError_t cudaMalloc(void **pointer, size_t size)
{
	cudaMalloc_v3020_params params = {pointer, size};
	struct sim_call call = RUNTIME_CALL(cudaMalloc_v3020, &params);

	if (sim_call_begin(&call))
		call.result = memory_new(pointer, size, ON_DEVICE, 0);
	return cudart_end(&call);
}

cudaError_t cudaFree(void *pointer)
{
	cudaFree_v3020_params params = {pointer};
	struct sim_call call = RUNTIME_CALL(cudaFree_v3020, &params);

	if (sim_call_begin(&call)) {
		if (pointer)
			stream_synchronize_all();
		call.result = memory_free(pointer, ON_DEVICE, 0);
	}
	return cudart_end(&call);
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream)
{
	cudaMallocAsync_v11020_params params = {pointer, size, stream};
	struct sim_call call = RUNTIME_CALL(cudaMallocAsync_v11020, &params);
	const struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = s ? memory_new(pointer, size, ON_DEVICE, s->id)
				: (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	cudaFreeAsync_v11020_params params = {pointer, stream};
	struct sim_call call = RUNTIME_CALL(cudaFreeAsync_v11020, &params);
	const struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = s ? memory_free(pointer, ON_DEVICE, s->id)
				: (int)cudaErrorInvalidResourceHandle;
	return cudart_end(&call);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
	cudaMallocHost_v3020_params params = {pointer, size};
	struct sim_call call = RUNTIME_CALL(cudaMallocHost_v3020, &params);

	if (sim_call_begin(&call))
		call.result = memory_new(pointer, size, PINNED, 0);
	return cudart_end(&call);
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags)
{
	cudaHostAlloc_v3020_params params = {pointer, size, flags};
	struct sim_call call = RUNTIME_CALL(cudaHostAlloc_v3020, &params);

	if (sim_call_begin(&call))
		call.result = memory_new(pointer, size, PINNED, 0);
	return cudart_end(&call);
}

cudaError_t cudaFreeHost(void *pointer)
{
	cudaFreeHost_v3020_params params = {pointer};
	struct sim_call call = RUNTIME_CALL(cudaFreeHost_v3020, &params);

	if (sim_call_begin(&call))
		call.result = memory_free(pointer, PINNED, 0);
	return cudart_end(&call);
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags)
{
	cudaHostRegister_v4000_params params = {pointer, size, flags};
	struct sim_call call = RUNTIME_CALL(cudaHostRegister_v4000, &params);

	if (sim_call_begin(&call))
		call.result = memory_pin(pointer, size);
	return cudart_end(&call);
}

cudaError_t cudaHostUnregister(void *pointer)
{
	cudaHostUnregister_v4000_params params = {pointer};
	struct sim_call call = RUNTIME_CALL(cudaHostUnregister_v4000, &params);

	if (sim_call_begin(&call))
		call.result = memory_unpin(pointer);
	return cudart_end(&call);
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags)
{
	cudaMallocManaged_v6000_params params = {pointer, size, flags};
	struct sim_call call = RUNTIME_CALL(cudaMallocManaged_v6000, &params);

	if (sim_call_begin(&call))
		call.result = memory_new(pointer, size, MANAGED, 0);
	return cudart_end(&call);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
				     const void *pointer)
{
	cudaPointerGetAttributes_v4000_params params = {attributes, pointer};
	struct sim_call call =
		RUNTIME_CALL(cudaPointerGetAttributes_v4000, &params);

	if (sim_call_begin(&call)) {
		const int kind = memory_kind(pointer);

		memset(attributes, 0, sizeof(*attributes));
		attributes->type = kind == ON_DEVICE ? cudaMemoryTypeDevice
				   : kind == PINNED  ? cudaMemoryTypeHost
				   : kind == MANAGED
					   ? cudaMemoryTypeManaged
					   : cudaMemoryTypeUnregistered;
		attributes->device = DEVICE_ID;
		attributes->devicePointer = (void *)pointer;
		attributes->hostPointer = (void *)pointer;
	}
	return cudart_end(&call);
}

static int touches_pageable(const void *to, const void *from)
{
	return memory_kind(to) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
	       memory_kind(from) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
		       enum cudaMemcpyKind kind)
{
	cudaMemcpy_v3020_params params = {to, from, bytes, kind};
	struct sim_call call = RUNTIME_CALL(cudaMemcpy_v3020, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(stream_null(), to, from, bytes, 0);
	return cudart_end(&call);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
			    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaMemcpyAsync_v3020_params params = {to, from, bytes, kind, stream};
	struct sim_call call = RUNTIME_CALL(cudaMemcpyAsync_v3020, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(stream_of(stream), to, from, bytes,
					!touches_pageable(to, from));
	return cudart_end(&call);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from,
			 size_t from_pitch, size_t width, size_t height,
			 enum cudaMemcpyKind kind)
{
	cudaMemcpy2D_v3020_params params = {to,	   to_pitch, from, from_pitch,
					    width, height,   kind};
	struct sim_call call = RUNTIME_CALL(cudaMemcpy2D_v3020, &params);

	if (sim_call_begin(&call))
		call.result = work_copy_rows(stream_null(), to, to_pitch, from,
					     from_pitch, width, height, 0);
	return cudart_end(&call);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
			      size_t from_pitch, size_t width, size_t height,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaMemcpy2DAsync_v3020_params params = {
		to, to_pitch, from, from_pitch, width, height, kind, stream};
	struct sim_call call = RUNTIME_CALL(cudaMemcpy2DAsync_v3020, &params);

	if (sim_call_begin(&call))
		call.result = work_copy_rows(stream_of(stream), to, to_pitch,
					     from, from_pitch, width, height,
					     !touches_pageable(to, from));
	return cudart_end(&call);
}

static int copy_peer(struct sim_stream *stream, void *to, const void *from,
		     size_t bytes, int asynchronous)
{
	const struct sim_work work = {
		.kind = WORK_COPY,
		.to = to,
		.from = from,
		.bytes = bytes,
		.asynchronous = asynchronous,
		.peer = 1,
	};

	if (!stream || !to || !from)
		return cudaErrorInvalidValue;
	return work_put(stream, &work);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from,
			   int from_device, size_t bytes)
{
	cudaMemcpyPeer_v4000_params params = {to, to_device, from, from_device,
					      bytes};
	struct sim_call call = RUNTIME_CALL(cudaMemcpyPeer_v4000, &params);

	if (sim_call_begin(&call))
		call.result = copy_peer(stream_null(), to, from, bytes, 0);
	return cudart_end(&call);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
				int from_device, size_t bytes,
				cudaStream_t stream)
{
	cudaMemcpyPeerAsync_v4000_params params = {
		to, to_device, from, from_device, bytes, stream};
	struct sim_call call = RUNTIME_CALL(cudaMemcpyPeerAsync_v4000, &params);

	if (sim_call_begin(&call))
		call.result = copy_peer(stream_of(stream), to, from, bytes, 1);
	return cudart_end(&call);
}

cudaError_t cudaMemset(void *to, int value, size_t count)
{
	cudaMemset_v3020_params params = {to, value, count};
	struct sim_call call = RUNTIME_CALL(cudaMemset_v3020, &params);

	if (sim_call_begin(&call))
		call.result = work_set(stream_null(), to, (uint8_t)value, 1,
				       count, 1);
	return cudart_end(&call);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t count,
			    cudaStream_t stream)
{
	cudaMemsetAsync_v3020_params params = {to, value, count, stream};
	struct sim_call call = RUNTIME_CALL(cudaMemsetAsync_v3020, &params);

	if (sim_call_begin(&call))
		call.result = work_set(stream_of(stream), to, (uint8_t)value, 1,
				       count, 1);
	return cudart_end(&call);
}
