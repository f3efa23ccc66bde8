/* SPDX-License-Identifier: MIT */
/*
 * cuda_driver_work.c - libcuda.so.1: memory, copies, streams, events.
 */
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_event.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_memory.h"
#include "tests/fake_gpu/sim_work.h"
#include <cuda.h>

#define ON_DEVICE CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
#define PINNED	  CUPTI_ACTIVITY_MEMORY_KIND_PINNED

static void *address(CUdeviceptr pointer)
{
	return (void *)(uintptr_t)pointer;
}

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t size)
{
	cuMemAlloc_v2_params params = {pointer, size};
	struct sim_call call = DRIVER_CALL(cuMemAlloc_v2, &params);

	if (sim_call_begin(&call))
		call.result = memory_new((void **)pointer, size, ON_DEVICE, 0);
	return sim_call_end(&call);
}

CUresult cuMemFree(CUdeviceptr pointer)
{
	cuMemFree_v2_params params = {pointer};
	struct sim_call call = DRIVER_CALL(cuMemFree_v2, &params);

	if (sim_call_begin(&call))
		call.result = memory_free(address(pointer), ON_DEVICE, 0);
	return sim_call_end(&call);
}

CUresult cuMemAllocHost(void **pointer, size_t size)
{
	cuMemAllocHost_v2_params params = {pointer, size};
	struct sim_call call = DRIVER_CALL(cuMemAllocHost_v2, &params);

	if (sim_call_begin(&call))
		call.result = memory_new(pointer, size, PINNED, 0);
	return sim_call_end(&call);
}

CUresult cuMemHostAlloc(void **pointer, size_t size, unsigned int flags)
{
	cuMemHostAlloc_params params = {pointer, size, flags};
	struct sim_call call = DRIVER_CALL(cuMemHostAlloc, &params);

	if (sim_call_begin(&call))
		call.result = memory_new(pointer, size, PINNED, 0);
	return sim_call_end(&call);
}

CUresult cuMemHostRegister(void *pointer, size_t size, unsigned int flags)
{
	cuMemHostRegister_v2_params params = {pointer, size, flags};
	struct sim_call call = DRIVER_CALL(cuMemHostRegister_v2, &params);

	if (sim_call_begin(&call))
		call.result = memory_pin(pointer, size);
	return sim_call_end(&call);
}

CUresult cuMemHostUnregister(void *pointer)
{
	cuMemHostUnregister_params params = {pointer};
	struct sim_call call = DRIVER_CALL(cuMemHostUnregister, &params);

	if (sim_call_begin(&call))
		call.result = memory_unpin(pointer);
	return sim_call_end(&call);
}

CUresult cuMemFreeHost(void *pointer)
{
	cuMemFreeHost_params params = {pointer};
	struct sim_call call = DRIVER_CALL(cuMemFreeHost, &params);

	if (sim_call_begin(&call))
		call.result = memory_free(pointer, PINNED, 0);
	return sim_call_end(&call);
}

CUresult cuMemGetInfo(size_t *available, size_t *total)
{
	cuMemGetInfo_v2_params params = {available, total};
	struct sim_call call = DRIVER_CALL(cuMemGetInfo_v2, &params);

	if (sim_call_begin(&call)) {
		*total = DEVICE_MEMORY_BYTES;
		*available = DEVICE_MEMORY_BYTES - memory_in_use();
	}
	return sim_call_end(&call);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
	cuMemcpyHtoD_v2_params params = {to, from, bytes};
	struct sim_call call = DRIVER_CALL(cuMemcpyHtoD_v2, &params);

	if (sim_call_begin(&call))
		call.result =
			work_copy(stream_null(), address(to), from, bytes, 0);
	return sim_call_end(&call);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
	cuMemcpyDtoH_v2_params params = {to, from, bytes};
	struct sim_call call = DRIVER_CALL(cuMemcpyDtoH_v2, &params);

	if (sim_call_begin(&call))
		call.result =
			work_copy(stream_null(), to, address(from), bytes, 0);
	return sim_call_end(&call);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
			   CUstream stream)
{
	cuMemcpyHtoDAsync_v2_params params = {to, from, bytes, stream};
	struct sim_call call = DRIVER_CALL(cuMemcpyHtoDAsync_v2, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(stream_of(stream), address(to), from,
					bytes, 1);
	return sim_call_end(&call);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
			   CUstream stream)
{
	cuMemcpyDtoHAsync_v2_params params = {to, from, bytes, stream};
	struct sim_call call = DRIVER_CALL(cuMemcpyDtoHAsync_v2, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(stream_of(stream), to, address(from),
					bytes, 1);
	return sim_call_end(&call);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
			   CUstream stream)
{
	cuMemcpyDtoDAsync_v2_params params = {to, from, bytes, stream};
	struct sim_call call = DRIVER_CALL(cuMemcpyDtoDAsync_v2, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(stream_of(stream), address(to),
					address(from), bytes, 1);
	return sim_call_end(&call);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
		       CUstream stream)
{
	cuMemcpyAsync_params params = {to, from, bytes, stream};
	struct sim_call call = DRIVER_CALL(cuMemcpyAsync, &params);

	if (sim_call_begin(&call))
		call.result = work_copy(stream_of(stream), address(to),
					address(from), bytes, 1);
	return sim_call_end(&call);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
			 CUstream stream)
{
	cuMemsetD8Async_params params = {to, value, count, stream};
	struct sim_call call = DRIVER_CALL(cuMemsetD8Async, &params);

	if (sim_call_begin(&call))
		call.result = work_set(stream_of(stream), address(to), value, 1,
				       count, 1);
	return sim_call_end(&call);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count,
			  CUstream stream)
{
	cuMemsetD32Async_params params = {to, value, count, stream};
	struct sim_call call = DRIVER_CALL(cuMemsetD32Async, &params);

	if (sim_call_begin(&call))
		call.result = work_set(stream_of(stream), address(to), value, 4,
				       count, 1);
	return sim_call_end(&call);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	cuStreamCreate_params params = {stream, flags};
	struct sim_call call = DRIVER_CALL(cuStreamCreate, &params);

	if (sim_call_begin(&call))
		*stream = (CUstream)stream_new(
			!(flags & CU_STREAM_NON_BLOCKING), 0);
	return sim_call_end(&call);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags,
				    int priority)
{
	cuStreamCreateWithPriority_params params = {stream, flags, priority};
	struct sim_call call = DRIVER_CALL(cuStreamCreateWithPriority, &params);

	if (sim_call_begin(&call))
		*stream = (CUstream)stream_new(
			!(flags & CU_STREAM_NON_BLOCKING), priority);
	return sim_call_end(&call);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	cuStreamGetCtx_params params = {stream, context};
	struct sim_call call = DRIVER_CALL(cuStreamGetCtx, &params);

	if (sim_call_begin(&call)) {
		*context = life_context();
		if (!stream_of(stream))
			call.result = CUDA_ERROR_INVALID_HANDLE;
	}
	return sim_call_end(&call);
}

CUresult cuStreamDestroy(CUstream stream)
{
	cuStreamDestroy_v2_params params = {stream};
	struct sim_call call = DRIVER_CALL(cuStreamDestroy_v2, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = s ? stream_free(s) : CUDA_ERROR_INVALID_HANDLE;
	return sim_call_end(&call);
}

CUresult cuStreamSynchronize(CUstream stream)
{
	cuStreamSynchronize_params params = {stream};
	struct sim_call call = DRIVER_CALL(cuStreamSynchronize, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result =
			s ? stream_synchronize(s) : CUDA_ERROR_INVALID_HANDLE;
	return sim_call_end(&call);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	cuStreamWaitEvent_params params = {stream, event, flags};
	struct sim_call call = DRIVER_CALL(cuStreamWaitEvent, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result = s && event
				      ? event_wait(s, (struct sim_event *)event)
				      : (int)CUDA_ERROR_INVALID_HANDLE;
	return sim_call_end(&call);
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	cuEventCreate_params params = {event, flags};
	struct sim_call call = DRIVER_CALL(cuEventCreate, &params);

	if (sim_call_begin(&call))
		*event = (CUevent)event_new(!(flags & CU_EVENT_DISABLE_TIMING));
	return sim_call_end(&call);
}

CUresult cuEventDestroy(CUevent event)
{
	cuEventDestroy_v2_params params = {event};
	struct sim_call call = DRIVER_CALL(cuEventDestroy_v2, &params);

	if (sim_call_begin(&call))
		event_free((struct sim_event *)event);
	return sim_call_end(&call);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	cuEventRecord_params params = {event, stream};
	struct sim_call call = DRIVER_CALL(cuEventRecord, &params);
	struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call))
		call.result =
			s && event ? event_record((struct sim_event *)event, s)
				   : (int)CUDA_ERROR_INVALID_HANDLE;
	return sim_call_end(&call);
}

CUresult cuEventQuery(CUevent event)
{
	cuEventQuery_params params = {event};
	struct sim_call call = DRIVER_CALL(cuEventQuery, &params);

	if (sim_call_begin(&call))
		call.result = event_query((struct sim_event *)event);
	return sim_call_end(&call);
}

CUresult cuEventSynchronize(CUevent event)
{
	cuEventSynchronize_params params = {event};
	struct sim_call call = DRIVER_CALL(cuEventSynchronize, &params);

	if (sim_call_begin(&call))
		call.result = event_synchronize((struct sim_event *)event);
	return sim_call_end(&call);
}
