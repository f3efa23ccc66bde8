/* SPDX-License-Identifier: MIT */
/*
 * cupti_pinned.h - which calls pin the program's own memory, or give memory to
 * a graph: those of which no record tells.
 *
 * Asked at each launch that may begin a step, so it is inline.
 */
#ifndef PRELOAD_CUPTI_PINNED_H
#define PRELOAD_CUPTI_PINNED_H

#include "preload/cuda/cupti_record.h"

#include <cupti.h>
#include <stdint.h>

enum cupti_memory_call {
	CUPTI_NO_MEMORY_CALL,
	CUPTI_PINS,
	CUPTI_UNPINS,
	/* See cupti_events.c. */
	CUPTI_EVENT_RECORDED,
	CUPTI_EVENT_DESTROYED,
	/* See cupti_graphs.c. */
	CUPTI_NODE_SWITCHED,
	CUPTI_GRAPH_LAUNCHED,
	/* See cupti_launch_names.c. */
	CUPTI_UNLOADED,
	/* May make a node of a graph; see cupti_graph_memory.h. */
	CUPTI_ALLOC_NODE,
	CUPTI_FREE_NODE,
	CUPTI_ANY_NODE,
	CUPTI_ANY_NODE_2,
	CUPTI_ALLOC,
	CUPTI_FREE,
};

/* By CUPTI's number of the domain, and the call's. */
extern uint8_t cupti_memory_calls[CUPTI_CB_DOMAIN_RUNTIME_API + 1]
				 [CUPTI_CALLS_MAX];

/* Of a call of the runtime or of the driver. */
static inline enum cupti_memory_call
cupti_memory_call_of(CUpti_CallbackDomain domain, uint32_t number)
{
	if (number >= CUPTI_CALLS_MAX)
		return CUPTI_NO_MEMORY_CALL;
	return (enum cupti_memory_call)cupti_memory_calls[domain][number];
}

/* It is called back for, all along. */
void cupti_memory_call_on(void *subscriber, CUpti_CallbackDomain domain,
			  uint32_t number, enum cupti_memory_call call);

/* Such a call begins or ends; data: of its callback. */
void cupti_pinned_call(enum cupti_memory_call call, const void *data);

/* cupti_events.c: calls that record or destroy a named event, of a subscriber;
 * and one of them. */
void cupti_events_start(void *subscriber);
void cupti_events_call(enum cupti_memory_call call, const void *data);
void cupti_events_forget(void);

/* cupti_graphs.c: calls that switch nodes of graphs off and on, and launches of
 * graphs. */
void cupti_graphs_start(void *subscriber);
void cupti_graphs_call(enum cupti_memory_call call, const void *data);

#endif
