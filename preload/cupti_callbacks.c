/* SPDX-License-Identifier: MIT */
/* cupti_callbacks.c - what CUPTI tells at once; see cupti_callbacks.h. */
#ifdef HAVE_CUPTI

#include "preload/cupti_callbacks.h"

#include "collector/log.h"
#include "collector/steps.h"
#include "preload/cupti_source.h"
#include "preload/life.h"
#include <errno.h>
#include <string.h>

/* Texts already compared, by address. */
#define VERDICTS 1024u

static struct {
	_Atomic uintptr_t text; /* with the verdict in bit 0 */
} verdicts[VERDICTS];

/* The thread that is in a callback: only one at a time may step. */
static _Atomic uint32_t inside;

bool cupti_callbacks_are_inside(void)
{
	return load_relaxed(&inside);
}

/* Compared once for each address that CUPTI gives; a name's address is good for
 * as long as its module, so that a slot is used by one text at a time. */
static bool matches(const char *text)
{
	const uintptr_t at = (uintptr_t)text << 1;
	_Atomic uintptr_t *slot =
		&verdicts[((uintptr_t)text >> 3) % VERDICTS].text;
	const uintptr_t seen = load_relaxed(slot);
	bool is_marker;

	if ((seen & ~(uintptr_t)1) == at)
		return seen & 1;
	is_marker = steps_matches(text);
	store_relaxed(slot, at | is_marker);
	return is_marker;
}

/* What launches a kernel; __cudaLaunchKernel, which nvcc 13 writes, has no name
 * in older headers. */
static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId number;
} launches[] = {
	/* clang-format off */
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060},
	{CUPTI_CB_DOMAIN_RUNTIME_API, 505},
	{CUPTI_CB_DOMAIN_RUNTIME_API, 506},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz},
	/* clang-format on */
};

#define LAUNCHES (sizeof(launches) / sizeof(launches[0]))

static bool is_launch(CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	for (size_t i = 0; i < LAUNCHES; i++) {
		if (launches[i].domain == domain &&
		    launches[i].number == number)
			return true;
	}
	return false;
}

/* A call begins: does it begin a step? */
static void look_at_call(CUpti_CallbackDomain domain, CUpti_CallbackId number,
			 const CUpti_CallbackData *data)
{
	const char *text = data->functionName;
	static _Atomic uint32_t last;
	struct thread *thread;

	if (data->callbackSite != CUPTI_API_ENTER || !life_is_running())
		return;
	if (steps_source() == STEP_KERNEL)
		/* For other calls it points anywhere. */
		text = is_launch(domain, number) ? data->symbolName : NULL;
	if (!text || !matches(text))
		return;
	/* A driver call inside a runtime call has its number. */
	if (data->correlationId &&
	    atomic_exchange_explicit(&last, data->correlationId,
				     memory_order_relaxed) ==
		    data->correlationId)
		return;
	thread = thread_here();
	if (!thread)
		return;
	life_thread_entered();
	add_relaxed(&inside, 1);
	steps_mark(load_relaxed(&session_here), thread, clock_ticks());
	atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

void CUPTIAPI cupti_callback(void *unused, CUpti_CallbackDomain domain,
			     CUpti_CallbackId number, const void *data)
{
	const int saved = errno;

	(void)unused;
	if (!cupti_is_attached() && domain != CUPTI_CB_DOMAIN_RESOURCE)
		return;
	switch (domain) {
	case CUPTI_CB_DOMAIN_RESOURCE: cupti_flush_at_exit(); break;
	case CUPTI_CB_DOMAIN_STATE:
		/* CUPTI has ended itself. */
		cupti_kill();
		session_note(load_relaxed(&session_here),
			     "CUPTI stopped after a fatal error of the GPU");
		break;
	case CUPTI_CB_DOMAIN_RUNTIME_API:
	case CUPTI_CB_DOMAIN_DRIVER_API:
		look_at_call(domain, number, data);
		break;
	default: break;
	}
	errno = saved;
}

void cupti_callbacks_start(CUpti_SubscriberHandle subscriber)
{
	cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				  CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
	cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				  CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_STATE,
				  CUPTI_CBID_STATE_FATAL_ERROR);
	if (steps_source() == STEP_KERNEL) {
		for (size_t i = 0; i < LAUNCHES; i++)
			cupti.cuptiEnableCallback(1, subscriber,
						  launches[i].domain,
						  launches[i].number);
	} else if (steps_source() == STEP_CUDA) {
		cupti.cuptiEnableDomain(1, subscriber,
					CUPTI_CB_DOMAIN_RUNTIME_API);
		cupti.cuptiEnableDomain(1, subscriber,
					CUPTI_CB_DOMAIN_DRIVER_API);
	}
}

#endif
