/* SPDX-License-Identifier: MIT */
/*
 * cupti_shared_face.c - libcupti.so.13: what each of several subscribers calls
 * from 13.3 on, with its handle.
 *
 * The first client's calls are those of the older faces; others have
 * sim_shared.c.  Who shares may call nothing of the older ones.
 */
#include "tests/fake_gpu/cupti_state.h"

#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_record.h"
#include "tests/fake_gpu/sim_shared.h"
#include <stddef.h>

/* Headers of 13.0 declare none of these. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Numbers of CUpti_ActivityAttribute that 13.0 hasn't. */
enum {
	LATENCY = 15,
	ALL_SYNC = 16,
	EVENT_TIMES = 17,
	THREAD_ID = 21,
	CLOCK = 22
};

static __thread int through_v2;
static shared_request first_request;
static shared_complete first_complete;

int state_is_through_v2(void)
{
	return through_v2;
}

static CUptiResult first(CUptiResult result)
{
	through_v2 = 0;
	return result;
}

#define FIRST(call) (through_v2 = 1, first(call))

static int can(void)
{
	return sim_knobs()->version >= VERSION_13_3;
}

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	first_request(buffer, size, most, NULL);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer,
		     size_t size, size_t valid)
{
	(void)context, (void)stream;
	first_complete(buffer, size, valid, NULL);
}

CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle handle,
					      shared_request ask,
					      shared_complete give_back)
{
	if (!can())
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (shared_is(handle)) {
		shared_register(handle, ask, give_back);
		return CUPTI_SUCCESS;
	}
	first_request = ask;
	first_complete = give_back;
	return FIRST(cuptiActivityRegisterCallbacks(request, complete));
}

CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle handle,
				   CUpti_ActivityKind kind, void *config)
{
	(void)config;
	if (!can() || !record_kind_valid(kind))
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (!shared_is(handle))
		return FIRST(cuptiActivityEnable(kind));
	clock_anchor();
	shared_enable(handle, kind, 1);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle handle,
					  CUpti_ActivityKind kind, void *config)
{
	if (can() && !shared_is(handle))
		return FIRST(cuptiActivityEnableAndDump(kind));
	return cuptiActivityEnable_v2(handle, kind, config);
}

CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle handle,
				    CUpti_ActivityKind kind, void *config)
{
	(void)config;
	if (!can() || !record_kind_valid(kind))
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (!shared_is(handle))
		return FIRST(cuptiActivityDisable(kind));
	shared_enable(handle, kind, 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle handle,
					  uint8_t *buffer, size_t valid,
					  CUpti_Activity **record)
{
	(void)handle;
	return record_next(buffer, valid, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle handle,
						 CUcontext context,
						 uint32_t stream,
						 size_t *dropped)
{
	*dropped = 0;
	if (shared_is(handle))
		return CUPTI_SUCCESS;
	return FIRST(
		cuptiActivityGetNumDroppedRecords(context, stream, dropped));
}

CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle handle,
				 uint64_t *timestamp)
{
	(void)handle;
	return FIRST(cuptiGetTimestamp(timestamp));
}

CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle handle,
					 CUpti_ActivityAttribute attribute,
					 size_t *size, void *value)
{
	const uint8_t flag = *(uint8_t *)value;

	if (!can())
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (shared_is(handle) && (int)attribute != THREAD_ID)
		return CUPTI_SUCCESS;
	switch ((int)attribute) {
	case LATENCY: return FIRST(cuptiActivityEnableLatencyTimestamps(flag));
	case ALL_SYNC: return FIRST(cuptiActivityEnableAllSyncRecords(flag));
	case EVENT_TIMES:
		return FIRST(
			cuptiActivityEnableCudaEventDeviceTimestamps(flag));
	case THREAD_ID:
		return FIRST(cuptiSetThreadIdType(
			*(CUpti_ActivityThreadIdType *)value));
	case CLOCK: return CUPTI_ERROR_NOT_COMPATIBLE;
	default:
		return FIRST(cuptiActivitySetAttribute(attribute, size, value));
	}
}

CUptiResult cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle handle,
					 CUpti_ActivityAttribute attribute,
					 size_t *size, void *value)
{
	(void)handle;
	return FIRST(cuptiActivityGetAttribute(attribute, size, value));
}

CUptiResult cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle handle,
					     CUpti_CallbackId cbid, uint8_t on)
{
	if (shared_is(handle))
		return CUPTI_SUCCESS;
	return FIRST(cuptiActivityEnableRuntimeApi(cbid, on));
}

CUptiResult cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle handle,
					    CUpti_CallbackId cbid, uint8_t on)
{
	if (shared_is(handle))
		return CUPTI_SUCCESS;
	return FIRST(cuptiActivityEnableDriverApi(cbid, on));
}
