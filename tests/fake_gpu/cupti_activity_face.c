/* SPDX-License-Identifier: MIT */
/*
 * cupti_activity_face.c - libcupti.so.13: the activity API.
 */
#include "tests/fake_gpu/cupti_state.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_buffers.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_cupti.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_record.h"
#include "tests/fake_gpu/sim_replay.h"
#include "tests/fake_gpu/sim_stream.h"
#include <string.h>

static CUptiResult enable(CUpti_ActivityKind kind, int on, const char *function)
{
	const CUptiResult error = state_enter(function);

	if (error)
		return error;
	if (!record_kind_valid(kind))
		return CUPTI_ERROR_INVALID_KIND;
	/* As the real one, inside of cuInit(). */
	if (on && kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER &&
	    life_state() != LIFE_READY)
		return CUPTI_ERROR_NOT_READY;
	if (on)
		activity_enable(kind, 1);
	else
		activity_disable(kind);
	return CUPTI_SUCCESS;
}

/* Who comes late is told of devices from 13.3 on. */
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	const CUptiResult error = enable(kind, 1, __func__);

	if (!error && kind == CUPTI_ACTIVITY_KIND_DEVICE &&
	    sim_knobs()->version >= VERSION_13_3)
		life_dump(kind);
	return error;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	return enable(kind, 0, __func__);
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	const CUptiResult error = enable(kind, 1, __func__);

	if (error)
		return error;
	if (kind == CUPTI_ACTIVITY_KIND_STREAM)
		stream_dump();
	else
		life_dump(kind);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableContext(CUcontext context,
				       CUpti_ActivityKind kind)
{
	if (!context)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return enable(kind, 1, __func__);
}

CUptiResult cuptiActivityDisableContext(CUcontext context,
					CUpti_ActivityKind kind)
{
	if (!context)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return enable(kind, 0, __func__);
}

CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
			       CUpti_BuffersCallbackCompleteFunc complete)
{
	/* Without a driver the real one answers that all is well. */
	const CUptiResult error = sim_knobs()->driver_absent
					  ? CUPTI_SUCCESS
					  : state_enter(__func__);

	if (error)
		return error;
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	buffers_register(request, complete);
	replay_arm();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
				       CUpti_Activity **record)
{
	return record_next(buffer, valid, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context,
					      uint32_t stream, size_t *dropped)
{
	const CUptiResult error = state_enter(__func__);

	(void)context, (void)stream;
	if (error)
		return error;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = buffers_dropped();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	const CUptiResult error = state_enter(__func__);
	const uint64_t start = clock_client_now();

	if (error)
		return error;
	replay_play();
	life_dump_late();
	buffers_flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	activity_overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, start,
			  clock_client_now(), 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlush(CUcontext context, uint32_t stream,
			       uint32_t flag)
{
	(void)context, (void)stream;
	return cuptiActivityFlushAll(flag);
}

CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
	(void)ms; /* the worker gives full buffers back as they come */
	return state_enter(__func__);
}

/* Attributes are numbers; those that change something here are passed on. */
static const size_t attribute_sizes[] = {
	sizeof(size_t),	 /* DEVICE_BUFFER_SIZE */
	sizeof(size_t),	 /* DEVICE_BUFFER_SIZE_CDP */
	sizeof(size_t),	 /* DEVICE_BUFFER_POOL_LIMIT */
	sizeof(size_t),	 /* PROFILING_SEMAPHORE_POOL_SIZE */
	sizeof(size_t),	 /* PROFILING_SEMAPHORE_POOL_LIMIT */
	sizeof(uint8_t), /* ZEROED_OUT_ACTIVITY_BUFFER */
	sizeof(size_t),	 /* DEVICE_BUFFER_PRE_ALLOCATE_VALUE */
	sizeof(size_t),	 /* PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE */
	sizeof(uint8_t), /* MEM_ALLOCATION_TYPE_HOST_PINNED */
	sizeof(uint8_t), /* PER_THREAD_ACTIVITY_BUFFER */
	sizeof(size_t),	 /* DEVICE_BUFFER_SIZE_DEVICE_GRAPHS */
};

enum { ATTRIBUTES = sizeof(attribute_sizes) / sizeof(attribute_sizes[0]) };

static uint64_t attributes[ATTRIBUTES] = {3200000, 0, 250, 65536, 250,	   0,
					  3,	   3, 0,   0,	  16777216};

static CUptiResult check_attribute(CUpti_ActivityAttribute attribute,
				   const size_t *size, const void *value)
{
	if (!size || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if ((int)attribute < 0 || (int)attribute >= ATTRIBUTES)
		return CUPTI_ERROR_INVALID_PARAMETER;
	/* Nobody says what it does with one that it doesn't know. */
	if (attribute >= CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER &&
	    sim_knobs()->version < VERSION_12_3)
		sim_fault("attribute %d is of a newer CUPTI", (int)attribute);
	if (*size < attribute_sizes[attribute])
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute,
				      size_t *size, void *value)
{
	CUptiResult error = state_enter(__func__);

	if (!error)
		error = check_attribute(attribute, size, value);
	if (error)
		return error;
	memcpy(&attributes[attribute], value, attribute_sizes[attribute]);
	if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)
		buffers_set_zeroed(attributes[attribute] != 0);
	if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER &&
	    !buffers_set_per_thread(attributes[attribute] != 0))
		return CUPTI_ERROR_NOT_SUPPORTED;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute,
				      size_t *size, void *value)
{
	CUptiResult error = state_enter(__func__);

	if (!error)
		error = check_attribute(attribute, size, value);
	if (error)
		return error;
	if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)
		attributes[attribute] = (uint64_t)buffers_per_thread();
	memcpy(value, &attributes[attribute], attribute_sizes[attribute]);
	*size = attribute_sizes[attribute];
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
	const CUptiResult error = state_enter(__func__);

	if (error)
		return error;
	if (!callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	clock_register(callback);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = clock_client_now();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	const CUptiResult error = state_enter(__func__);

	if (error)
		return error;
	if ((int)type < 0 || type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
		return CUPTI_ERROR_NOT_SUPPORTED;
	activity_use_system_thread_id(type ==
				      CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
				       uint64_t id)
{
	const CUptiResult error = state_enter(__func__);

	return error ? error : sim_push_external(kind, id);
}

CUptiResult
cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
				      uint64_t *id)
{
	const CUptiResult error = state_enter(__func__);

	return error ? error : sim_pop_external(kind, id);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t on)
{
	const CUptiResult error = state_enter(__func__);

	if (!error)
		activity_enable_api(CUPTI_ACTIVITY_KIND_DRIVER, cbid, on);
	return error;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t on)
{
	const CUptiResult error = state_enter(__func__);

	if (!error)
		activity_enable_api(CUPTI_ACTIVITY_KIND_RUNTIME, cbid, on);
	return error;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t on)
{
	const CUptiResult error = state_enter(__func__);

	if (!error)
		sim_cupti.all_sync_records = on;
	return error;
}

CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t on)
{
	const CUptiResult error = state_enter(__func__);

	if (!error)
		sim_cupti.event_timestamps = on;
	return error;
}

CUptiResult cuptiActivityEnableAllocationSource(uint8_t on)
{
	(void)on;
	return state_enter(__func__);
}
