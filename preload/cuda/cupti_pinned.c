/* SPDX-License-Identifier: MIT */
/*
 * cupti_pinned.c - memory of the program's own that it pins.
 *
 * CUPTI's records tell of memory that the driver allocates, pinned or not.  Of
 * cudaHostRegister() and cuMemHostRegister() there is no record with an address
 * and a size, so that each such call is called back for: it pins pages, and
 * costs far more than that.  A call of the runtime makes one of the driver; the
 * writer knows which address is pinned already.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_pinned.h"
#include "preload/cuda/cupti_source.h"

#include "preload/cuda/cupti_library.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId number;
	enum cupti_memory_call call;
} calls[] = {
	/* clang-format off */
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaHostRegister_v4000, CUPTI_PINS},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaHostUnregister_v4000, CUPTI_UNPINS},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister, CUPTI_PINS},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, CUPTI_PINS},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister, CUPTI_UNPINS},
	/* clang-format on */
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* How the parameters of all of them begin; only the first is there when memory
 * is unpinned. */
struct pinned {
	void *address;
	size_t bytes;
};

uint8_t cupti_memory_calls[CUPTI_CB_DOMAIN_RUNTIME_API + 1][CUPTI_CALLS_MAX];

void cupti_memory_call_on(void *subscriber, CUpti_CallbackDomain domain,
			  uint32_t number, enum cupti_memory_call call)
{
	cupti_memory_calls[domain][number] = (uint8_t)call;
	cupti.cuptiEnableCallback(1, subscriber, domain, number);
}

void cupti_pinned_start(void *subscriber)
{
	for (size_t i = 0; i < CALLS; i++)
		cupti_memory_call_on(subscriber, calls[i].domain,
				     calls[i].number, calls[i].call);
}

static void note(const CUpti_CallbackData *data, bool is_free)
{
	const struct pinned *pinned = data->functionParams;
	const int *result = data->functionReturnValue;
	struct thread *thread;

	if (!pinned || !result || *result || !life_is_running())
		return;
	thread = hook_thread_of_any();
	if (!thread)
		return;
	thread_record(
		thread,
		&(struct event){
			.kind = EVENT_GPU_MEMORY,
			.extra = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
			.caller = cupti_stacks_of(data->correlationId),
			.start_ticks = clock_ticks(),
			.end_ticks = clock_ticks(),
			.memory = {.correlation = data->correlationId,
				   .address = (uintptr_t)pinned->address,
				   .size_bytes = is_free ? 0 : pinned->bytes,
				   .device = thread->tid,
				   .is_free = is_free},
		});
}

void cupti_pinned_call(enum cupti_memory_call call, const void *data)
{
	const CUpti_CallbackData *about = data;

	if (about->callbackSite == CUPTI_API_EXIT)
		note(about, call == CUPTI_UNPINS);
}

#endif
