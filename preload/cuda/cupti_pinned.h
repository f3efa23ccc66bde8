/* SPDX-License-Identifier: MIT */
/*
 * cupti_pinned.h - which calls pin the program's own memory.
 *
 * Asked at each launch that may begin a step, so it is inline.
 */
#ifndef PRELOAD_CUPTI_PINNED_H
#define PRELOAD_CUPTI_PINNED_H

#include <cupti.h>
#include <stdint.h>

enum cupti_pinning { CUPTI_PINS_NOTHING, CUPTI_PINS, CUPTI_UNPINS };

static inline enum cupti_pinning cupti_pinning_of_runtime(uint32_t number)
{
	switch (number) {
	case CUPTI_RUNTIME_TRACE_CBID_cudaHostRegister_v4000: return CUPTI_PINS;
	case CUPTI_RUNTIME_TRACE_CBID_cudaHostUnregister_v4000:
		return CUPTI_UNPINS;
	default: return CUPTI_PINS_NOTHING;
	}
}

static inline enum cupti_pinning cupti_pinning_of_driver(uint32_t number)
{
	switch (number) {
	case CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister:
	case CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2: return CUPTI_PINS;
	case CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister: return CUPTI_UNPINS;
	default: return CUPTI_PINS_NOTHING;
	}
}

static inline enum cupti_pinning cupti_pinning_of(CUpti_CallbackDomain domain,
						  uint32_t number)
{
	return domain == CUPTI_CB_DOMAIN_RUNTIME_API
		       ? cupti_pinning_of_runtime(number)
		       : cupti_pinning_of_driver(number);
}

/* Such a call begins or ends; data: of its callback. */
void cupti_pinned_call(enum cupti_pinning pinning, const void *data);

#endif
