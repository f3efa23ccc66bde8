/* SPDX-License-Identifier: MIT */
/*
 * sim_call.h - what happens around every CUDA call: initialisation, the
 * client's callbacks, the correlation id, the API record, an injected failure.
 *
 *	struct sim_call call = RUNTIME_CALL(cudaMalloc_v3020, &params);
 *
 *	if (sim_call_begin(&call))
 *		call.result = memory_new(...);
 *	return sim_call_end(&call);
 */
#ifndef FAKE_GPU_SIM_CALL_H
#define FAKE_GPU_SIM_CALL_H

#include <cupti.h>
#include <stdint.h>

struct sim_call {
	CUpti_CallbackDomain domain;
	uint32_t cbid;
	const char *function;
	const void *params;
	const char *symbol; /* of a launch: the kernel's name */
	int result;
	/* From here on the call's own. */
	struct sim_call *outer;
	uint32_t correlation;
	uint64_t start;
	uint64_t callback_data;
	int silent; /* neither callbacks nor a record */
};

/* clang-format off */
#define RUNTIME_CALL(name, parameters) {				\
	.domain = CUPTI_CB_DOMAIN_RUNTIME_API,				\
	.cbid = CUPTI_RUNTIME_TRACE_CBID_##name,			\
	.function = __func__, .params = (parameters) }
#define DRIVER_CALL(name, parameters) {					\
	.domain = CUPTI_CB_DOMAIN_DRIVER_API,				\
	.cbid = CUPTI_DRIVER_TRACE_CBID_##name,				\
	.function = __func__, .params = (parameters) }
/* clang-format on */

/* 0: do nothing, the result is an error already. */
int sim_call_begin(struct sim_call *call);
int sim_call_end(struct sim_call *call);

/* The call that this thread is in, outermost; its id, or 0. */
uint32_t sim_call_correlation(void);

/* The next call's id is 1 (IDS_ANEW). */
void sim_call_ids_begin_anew(void);

/* The driver's call inside the runtime's, which shows with DUP_DRIVER. */
void sim_call_begin_inner(struct sim_call *call, uint32_t driver_cbid,
			  const char *function);
void sim_call_end_inner(struct sim_call *call);

/* External correlation ids of this thread. */
CUptiResult sim_push_external(CUpti_ExternalCorrelationKind kind, uint64_t id);
CUptiResult sim_pop_external(CUpti_ExternalCorrelationKind kind, uint64_t *id);

#endif
