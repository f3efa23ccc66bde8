/* SPDX-License-Identifier: MIT */
/*
 * cupti_events.c - names that a program gives its CUDA events (NVTX).
 *
 * CUPTI's record of a recorded event has an id of its own, and nothing tells
 * which handle that is.  So from the first name on the calls that record an
 * event are called back for: the handle is among their parameters, and their
 * number is in the record.  An event that is destroyed loses its name, since
 * another one may get its handle.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_pinned.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_side.h"
#include "preload/cuda/cupti_source.h"

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include <string.h>

#define NAMED_MOST   1024u
#define NAMED_PROBES 16u

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId number;
	enum cupti_memory_call call;
} calls[] = {
	/* clang-format off */
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecord, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz, CUPTI_EVENT_RECORDED},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020, CUPTI_EVENT_DESTROYED},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventDestroy, CUPTI_EVENT_DESTROYED},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2, CUPTI_EVENT_DESTROYED},
	/* clang-format on */
};

static struct {
	_Atomic uintptr_t handle; /* 0 free */
	_Atomic uint32_t name;	  /* 0 none any more */
} named[NAMED_MOST];

static _Atomic bool has_names;

/* The slot of a handle; `make`: a free one, or one whose event is gone. */
static uint32_t slot_of(uintptr_t handle, bool make)
{
	const uint32_t first = (uint32_t)(handle * 0x9e3779b97f4a7c15u >> 54);

	for (uint32_t i = 0; i < NAMED_PROBES; i++) {
		const uint32_t at = (first + i) % NAMED_MOST;

		if (load_relaxed(&named[at].handle) == handle)
			return at;
	}
	for (uint32_t i = 0; i < NAMED_PROBES && make; i++) {
		const uint32_t at = (first + i) % NAMED_MOST;
		uintptr_t was = load_relaxed(&named[at].handle);

		if ((!was || !load_relaxed(&named[at].name)) &&
		    atomic_compare_exchange_strong_explicit(
			    &named[at].handle, &was, handle,
			    memory_order_relaxed, memory_order_relaxed))
			return at;
	}
	return NAMED_MOST;
}

void cupti_events_start(void *subscriber)
{
	for (size_t i = 0;
	     i < sizeof(calls) / sizeof(calls[0]) && load_relaxed(&has_names);
	     i++)
		cupti_memory_call_on(subscriber, calls[i].domain,
				     calls[i].number, calls[i].call);
}

void cupti_side_name_event(const void *event, const char *name)
{
	struct session *session = load_relaxed(&session_here);
	uint32_t at;

	if (!session || !event || !name)
		return;
	at = slot_of((uintptr_t)event, true);
	if (at == NAMED_MOST) {
		session_note(session,
			     "CUDA events past the first %u that have a name "
			     "are not shown with it",
			     NAMED_MOST);
		return;
	}
	store_relaxed(&named[at].name, names_intern_string(session, name));
	if (!atomic_exchange_explicit(&has_names, true, memory_order_relaxed))
		cupti_callbacks_events();
}

void cupti_events_call(enum cupti_memory_call call, const void *data)
{
	const CUpti_CallbackData *about = data;
	/* How the parameters of all of them begin. */
	const uintptr_t *event = about->functionParams;
	uint32_t at;

	if (about->callbackSite != CUPTI_API_ENTER || !event || !*event)
		return;
	at = slot_of(*event, false);
	if (at == NAMED_MOST)
		return;
	if (call == CUPTI_EVENT_DESTROYED)
		store_relaxed(&named[at].name, 0);
	else if (gate_bits() & GATE_RECORD_BITS)
		cupti_record_named(about->correlationId,
				   load_relaxed(&named[at].name));
}

void cupti_events_forget(void)
{
	if (!atomic_exchange_explicit(&has_names, false, memory_order_relaxed))
		return;
	memset(named, 0, sizeof(named));
}

#endif
