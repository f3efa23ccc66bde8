/* SPDX-License-Identifier: MIT */
/*
 * sim_callbacks.h - the one subscriber of CUPTI's callback API.
 */
#ifndef FAKE_GPU_SIM_CALLBACKS_H
#define FAKE_GPU_SIM_CALLBACKS_H

#include "tests/fake_gpu/sim_call.h"

CUptiResult callbacks_subscribe(CUpti_CallbackFunc callback, void *argument);
void callbacks_unsubscribe(void);
int callbacks_has_subscriber(void);

/* Of all functions of a domain, or of one; 0 if there is no such. */
int callbacks_enable_domain(CUpti_CallbackDomain domain, int on);
int callbacks_enable(CUpti_CallbackDomain domain, uint32_t cbid, int on);
int callbacks_enabled(CUpti_CallbackDomain domain, uint32_t cbid);

void callbacks_api(struct sim_call *call, CUpti_ApiCallbackSite site);
void callbacks_resource(uint32_t cbid, CUcontext context, void *handle);
void callbacks_graph(uint32_t cbid, void *graph, void *executable);
void callbacks_graph_node(uint32_t cbid, void *graph, uint64_t node,
			  CUgraphNodeType type);
void callbacks_synchronized(uint32_t cbid, CUcontext context, CUstream stream);

/* CUPTI gives up: it says so once and records nothing more. */
void callbacks_fatal(void);

#endif
