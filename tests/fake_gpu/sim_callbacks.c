/* SPDX-License-Identifier: MIT */
/*
 * sim_callbacks.c - who is called, and for what.
 */
#include "tests/fake_gpu/sim_callbacks.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_record.h"
#include "tests/fake_gpu/sim_shared.h"
#include <pthread.h>

enum { DOMAINS = 7, MOST_CBIDS = 2048 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(CUpti_CallbackFunc) subscriber;
static void *subscriber_argument;
static _Atomic char enabled[DOMAINS][MOST_CBIDS];

CUptiResult callbacks_subscribe(CUpti_CallbackFunc callback, void *argument)
{
	CUptiResult result = CUPTI_SUCCESS;

	pthread_mutex_lock(&lock);
	if (subscriber) {
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	} else {
		subscriber_argument = argument;
		subscriber = callback;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

int callbacks_has_subscriber(void)
{
	return subscriber != NULL;
}

void callbacks_unsubscribe(void)
{
	subscriber = NULL;
	for (int domain = 1; domain < DOMAINS; domain++)
		callbacks_enable_domain((CUpti_CallbackDomain)domain, 0);
}

int callbacks_enable(CUpti_CallbackDomain domain, uint32_t cbid, int on)
{
	if ((int)domain <= 0 || (int)domain >= DOMAINS || cbid >= MOST_CBIDS)
		return 0;
	enabled[domain][cbid] = (char)on;
	return 1;
}

int callbacks_enable_domain(CUpti_CallbackDomain domain, int on)
{
	if ((int)domain <= 0 || (int)domain >= DOMAINS)
		return 0;
	for (uint32_t cbid = 1; cbid < MOST_CBIDS; cbid++)
		enabled[domain][cbid] = (char)on;
	return 1;
}

int callbacks_enabled(CUpti_CallbackDomain domain, uint32_t cbid)
{
	return (int)domain > 0 && (int)domain < DOMAINS && cbid < MOST_CBIDS &&
	       enabled[domain][cbid];
}

static void call_back(CUpti_CallbackDomain domain, uint32_t cbid,
		      const void *data)
{
	CUpti_CallbackFunc callback = subscriber;

	if (callback && callbacks_enabled(domain, cbid))
		callback(subscriber_argument, domain, cbid, data);
	shared_call_back(domain, cbid, data);
}

void callbacks_api(struct sim_call *call, CUpti_ApiCallbackSite site)
{
	const CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = call->function,
		.functionParams = call->params,
		/* At a call's beginning, too, where it says nothing. */
		.functionReturnValue = &call->result,
		.symbolName = call->symbol,
		.context = life_context(),
		.contextUid = life_context() ? life_context_id() : 0,
		.correlationData = &call->callback_data,
		.correlationId = call->correlation,
	};

	call_back(call->domain, call->cbid, &data);
}

void callbacks_resource(uint32_t cbid, CUcontext context, void *handle)
{
	CUpti_ResourceData data = {.context = context};

	data.resourceHandle.stream = handle;
	call_back(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

static void call_back_graph(uint32_t cbid, CUpti_GraphData *about)
{
	const CUpti_ResourceData data = {
		.context = life_context(),
		.resourceDescriptor = about,
	};

	call_back(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

void callbacks_graph(uint32_t cbid, void *graph, void *executable)
{
	CUpti_GraphData about = {.graph = graph, .graphExec = executable};

	call_back_graph(cbid, &about);
}

void callbacks_graph_node(uint32_t cbid, void *graph, uint64_t node,
			  CUgraphNodeType type)
{
	CUpti_GraphData about = {
		.graph = graph,
		.node = (CUgraphNode)node,
		.nodeType = type,
	};

	call_back_graph(cbid, &about);
}

void callbacks_synchronized(uint32_t cbid, CUcontext context, CUstream stream)
{
	const CUpti_SynchronizeData data = {
		.context = context,
		.stream = stream,
	};

	call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

void callbacks_fatal(void)
{
	CUpti_StateData data = {.notification = {
					.result = CUPTI_ERROR_UNKNOWN,
					.message = "simulated fatal error",
				}};

	for (int kind = 1; kind < KIND_COUNT; kind++)
		activity_enable((CUpti_ActivityKind)kind, 0);
	call_back(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
	callbacks_unsubscribe();
}
