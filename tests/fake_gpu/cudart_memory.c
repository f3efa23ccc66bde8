/* SPDX-License-Identifier: MIT */
/*
 * cudart_memory.c - libcudart.so.13: allocation, copies, memsets.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_graph.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_memory.h"
#include "tests/fake_gpu/sim_side.h"
#include "tests/fake_gpu/sim_work.h"
#include <string.h>

#define ON_DEVICE CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
#define PINNED	  CUPTI_ACTIVITY_MEMORY_KIND_PINNED
#define MANAGED	  CUPTI_ACTIVITY_MEMORY_KIND_MANAGED

/* clang-format off */
CALL(cudaMalloc, v3020, (void **pointer, size_t size), (pointer, size),
     memory_new(pointer, size, ON_DEVICE, 0))
/* clang-format on */

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

static int allocate_async(struct sim_stream *stream, struct sim_pool *pool,
			  void **pointer, size_t size)
{
	if (!stream)
		return NO_STREAM;
	if (stream->capture)
		return graph_add_memory(stream->capture, pointer, size)
			       ? 0
			       : CUDA_ERROR_OUT_OF_MEMORY;
	return memory_new_in(pool, pointer, size, ON_DEVICE, stream->id);
}

static int free_async(struct sim_stream *stream, void *pointer)
{
	if (!stream)
		return NO_STREAM;
	if (stream->capture)
		return graph_add_memory(stream->capture, &pointer, 0)
			       ? 0
			       : CUDA_ERROR_INVALID_VALUE;
	return memory_free(pointer, ON_DEVICE, stream->id);
}

/* clang-format off */
BOTH(cudaMallocAsync, v11020, ptsz, v11020,
     (void **pointer, size_t size, cudaStream_t stream),
     (pointer, size, stream),
     allocate_async(at(stream), pool_default(), pointer, size))

BOTH(cudaFreeAsync, v11020, ptsz, v11020, (void *pointer, cudaStream_t stream),
     (pointer, stream),
     free_async(at(stream), pointer))

CALL(cudaMallocHost, v3020, (void **pointer, size_t size), (pointer, size),
     memory_new(pointer, size, PINNED, 0))

CALL(cudaHostAlloc, v3020, (void **pointer, size_t size, unsigned int flags),
     (pointer, size, flags), memory_new(pointer, size, PINNED, 0))

CALL(cudaFreeHost, v3020, (void *pointer), (pointer),
     memory_free(pointer, PINNED, 0))

CALL(cudaHostRegister, v4000, (void *pointer, size_t size, unsigned int flags),
     (pointer, size, flags), memory_pin(pointer, size))

CALL(cudaHostUnregister, v4000, (void *pointer), (pointer),
     memory_unpin(pointer))

CALL(cudaMallocManaged, v6000,
     (void **pointer, size_t size, unsigned int flags), (pointer, size, flags),
     memory_new(pointer, size, MANAGED, 0))
/* clang-format on */

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
		attributes->device = (int)life_device();
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

/* clang-format off */
BOTH(cudaMemcpy, v3020, ptds, v7000,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
     (to, from, bytes, kind), work_copy(at(NULL), to, from, bytes, 0))

BOTH(cudaMemcpyAsync, v3020, ptsz, v7000,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
         cudaStream_t stream),
     (to, from, bytes, kind, stream),
     work_copy(at(stream), to, from, bytes, !touches_pageable(to, from)))

CALL(cudaMemcpy2D, v3020,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t
         width, size_t height, enum cudaMemcpyKind kind),
     (to, to_pitch, from, from_pitch, width, height, kind),
     work_copy_rows(stream_null(), to, to_pitch, from, from_pitch, width,
         height, 0))

CALL(cudaMemcpy2DAsync, v3020,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t
         width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream),
     work_copy_rows(at(stream), to, to_pitch, from, from_pitch, width, height,
         !touches_pageable(to, from)))
/* clang-format on */

static int copy_peer(struct sim_stream *stream, void *to, int to_device,
		     const void *from, int from_device, size_t bytes,
		     int asynchronous)
{
	const struct sim_work work = {
		.kind = WORK_COPY,
		.to = to,
		.from = from,
		.bytes = bytes,
		.asynchronous = asynchronous,
		.peer = 1,
		.from_device = from_device,
		.to_device = to_device,
	};

	if (!stream || !to || !from)
		return cudaErrorInvalidValue;
	return work_put(stream, &work);
}

/* clang-format off */
CALL(cudaMemcpyPeer, v4000,
     (void *to, int to_device, const void *from, int from_device, size_t bytes),
     (to, to_device, from, from_device, bytes),
     copy_peer(stream_null(), to, to_device, from, from_device, bytes, 0))

CALL(cudaMemcpyPeerAsync, v4000,
     (void *to, int to_device, const void *from, int from_device, size_t bytes,
         cudaStream_t stream),
     (to, to_device, from, from_device, bytes, stream),
     copy_peer(at(stream), to, to_device, from, from_device, bytes, 1))

BOTH(cudaMemset, v3020, ptds, v7000, (void *to, int value, size_t count),
     (to, value, count), work_set(at(NULL), to, (uint8_t)value, 1, count, 1))

BOTH(cudaMemsetAsync, v3020, ptsz, v7000,
     (void *to, int value, size_t count, cudaStream_t stream),
     (to, value, count, stream),
     work_set(at(stream), to, (uint8_t)value, 1, count, 1))
/* clang-format on */
