/* SPDX-License-Identifier: MIT */
/*
 * cupti_callback_face.c - libcupti.so.13: subscription, callbacks, names.
 */
#include "tests/fake_gpu/cupti_state.h"

#include "tests/fake_gpu/sim_callbacks.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_graph.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_shared.h"
#include "tests/fake_gpu/sim_stream.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define OTHER_TOOL "CUPTI for SomeOtherTool"

static char holder[64];
static _Atomic int refused;
static int handle;
static const char *const runtime_names[] = {
#include "runtime_names.inc"
};
static const char *const driver_names[] = {
#include "driver_names.inc"
};

/* CUPTI finds the driver by itself. */
static int driver_found(void)
{
	static _Atomic(void *) driver;

	if (sim_knobs()->driver_absent)
		return 0;
	if (!driver)
		driver = dlopen("libcuda.so.1", RTLD_NOW);
	return driver != NULL;
}

/* What has a handle, or is of no subscriber. */
static int is_for_all(const char *function)
{
	static const char *const words[] = {
		"ubscribe", "EnableCallback", "EnableDomain",	  "FlushAll",
		"GetGraph", "GetContextId",   "GetStreamId",	  "GetDeviceId",
		"_v2",	    "GetTimestamp",   "SupportedDomains",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(function, words[i]))
			return 1;
	return 0;
}

CUptiResult state_enter(const char *function)
{
	if (refused)
		sim_fault("%s() after a refused subscription", function);
	if (!driver_found())
		return CUPTI_ERROR_UNKNOWN;
	if (!life_driver_alive())
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (shared_state() == SHARING_YES && !state_is_through_v2() &&
	    !is_for_all(function))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	if (sim_knobs()->call_ns)
		clock_sleep_until(clock_device_now() + sim_knobs()->call_ns);
	return (CUptiResult)knobs_failure(function);
}

/* The longer parameters of 13.3: does it want others beside itself? */
static int wants_others(const CUpti_SubscriberParams *params)
{
	const size_t at = CUpti_SubscriberParams_STRUCT_SIZE;

	return params && sim_knobs()->version >= VERSION_13_3 &&
	       params->structSize > at && ((const uint8_t *)params)[at];
}

/* As all say or none. */
static CUptiResult join(CUpti_SubscriberHandle *subscriber, int wants,
			CUpti_CallbackFunc callback, void *argument)
{
	if (wants && sim_knobs()->old_driver)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	if (shared_state() == SHARING_UNSAID) {
		shared_decide(wants);
		return CUPTI_SUCCESS;
	}
	if (wants != (shared_state() == SHARING_YES))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	if (wants && callbacks_has_subscriber())
		*subscriber = shared_join(callback, argument);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = sim_knobs()->version;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber,
			      CUpti_CallbackFunc callback, void *argument,
			      CUpti_SubscriberParams *params)
{
	CUptiResult error = state_enter(__func__);

	if (error)
		return error;
	if (!subscriber ||
	    (params && params->structSize < CUpti_SubscriberParams_STRUCT_SIZE))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*subscriber = NULL;
	if (sim_knobs()->subscriber_taken) {
		snprintf(holder, sizeof(holder), OTHER_TOOL);
		error = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
		refused = 1;
	} else {
		error = join(subscriber, wants_others(params), callback,
			     argument);
		if (!error && *subscriber)
			return CUPTI_SUCCESS;
		if (!error)
			error = callbacks_subscribe(callback, argument);
	}
	if (error && params && params->oldSubscriberName)
		snprintf(params->oldSubscriberName, params->oldSubscriberSize,
			 "%s", holder);
	if (error)
		return error;
	snprintf(holder, sizeof(holder), "CUPTI for %s",
		 params && params->subscriberName ? params->subscriberName
						  : "unnamed");
	*subscriber = (CUpti_SubscriberHandle)&handle;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber,
			   CUpti_CallbackFunc callback, void *argument)
{
	const CUptiResult error = (CUptiResult)knobs_failure(__func__);

	return error ? error
		     : cuptiSubscribe_v2(subscriber, callback, argument, NULL);
}

static int ours(CUpti_SubscriberHandle subscriber)
{
	return subscriber == (CUpti_SubscriberHandle)&handle;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	if (shared_is(subscriber)) {
		shared_leave(subscriber);
		return CUPTI_SUCCESS;
	}
	if (!ours(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;

	const CUptiResult error = state_enter(__func__);
	if (!error)
		callbacks_unsubscribe();
	return error;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle subscriber,
				CUpti_CallbackDomain domain,
				CUpti_CallbackId cbid)
{
	if (shared_is(subscriber))
		return shared_enable_callback(subscriber, domain, cbid, on != 0)
			       ? CUPTI_SUCCESS
			       : CUPTI_ERROR_INVALID_PARAMETER;
	if (!ours(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;

	const CUptiResult error = state_enter(__func__);
	if (error)
		return error;
	return callbacks_enable(domain, cbid, on != 0)
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle subscriber,
			      CUpti_CallbackDomain domain)
{
	if (!ours(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;

	const CUptiResult error = state_enter(__func__);
	if (error)
		return error;
	return callbacks_enable_domain(domain, on != 0)
		       ? CUPTI_SUCCESS
		       : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiEnableAllDomains(uint32_t on,
				  CUpti_SubscriberHandle subscriber)
{
	CUptiResult error = CUPTI_SUCCESS;

	for (int domain = 1; domain < CUPTI_CB_DOMAIN_SIZE && !error; domain++)
		error = cuptiEnableDomain(on, subscriber,
					  (CUpti_CallbackDomain)domain);
	return error;
}

CUptiResult cuptiGetCallbackState(uint32_t *on,
				  CUpti_SubscriberHandle subscriber,
				  CUpti_CallbackDomain domain,
				  CUpti_CallbackId cbid)
{
	if (!on || !ours(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*on = (uint32_t)callbacks_enabled(domain, cbid);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSupportedDomains(size_t *count, CUpti_DomainTable *table)
{
	static CUpti_CallbackDomain domains[] = {
		CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
		CUPTI_CB_DOMAIN_RESOURCE,   CUPTI_CB_DOMAIN_SYNCHRONIZE,
		CUPTI_CB_DOMAIN_NVTX,	    CUPTI_CB_DOMAIN_STATE};
	const CUptiResult error = state_enter(__func__);

	if (error)
		return error;
	if (!count || !table)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*count = sizeof(domains) / sizeof(domains[0]);
	*table = domains;
	return CUPTI_SUCCESS;
}

static const char *name_in(const char *const *names, size_t count,
			   uint32_t cbid)
{
	return cbid < count ? names[cbid] : NULL;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
				 const char **name)
{
	if (!name)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = NULL;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		*name = name_in(runtime_names,
				sizeof(runtime_names) / sizeof(char *), cbid);
	else if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		*name = name_in(driver_names,
				sizeof(driver_names) / sizeof(char *), cbid);
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const char *const texts[] = {
#include "result_names.inc"
	};

	const char *known =
		name_in(texts, sizeof(texts) / sizeof(char *), result);

	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (result == CUPTI_ERROR_UNKNOWN)
		known = "CUPTI_ERROR_UNKNOWN";
	/* The header has these two, the real library does not know them. */
	if (result == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED ||
	    result == CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE)
		known = NULL;
	*text = known ? known : "<unknown>";
	return known ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **text)
{
	return cuptiGetResultString(result, text);
}

CUptiResult cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
	callbacks_unsubscribe();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	const CUptiResult error = state_enter(__func__);

	if (error)
		return error;
	if (!id || !context || context != life_context())
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = life_context_id();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream,
			       uint8_t per_thread, uint32_t *id)
{
	const CUptiResult error = state_enter(__func__);
	const struct sim_stream *s =
		per_thread && !stream ? stream_per_thread() : stream_of(stream);

	(void)context;
	if (error)
		return error;
	if (!id || !s)
		return CUPTI_ERROR_INVALID_STREAM;
	*id = s->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	const CUptiResult error = state_enter(__func__);

	(void)context;
	if (!error && id)
		*id = life_device();
	return error;
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
	const CUptiResult error = state_enter(__func__);

	if (error)
		return error;
	if (!graph || !id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*id = graph_id((const struct sim_graph *)graph);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec executable, uint32_t *id)
{
	return cuptiGetGraphId((CUgraph)executable, id);
}
