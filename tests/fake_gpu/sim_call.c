/* SPDX-License-Identifier: MIT */
/*
 * sim_call.c - the bracket around CUDA calls.
 *
 * A call inside a call has the outer one's correlation id.  Of those, only the
 * driver's call under the runtime's is ever seen, with DUP_DRIVER=1.
 */
#include "tests/fake_gpu/sim_call.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_callbacks.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_life.h"
#include "tests/fake_gpu/sim_second.h"
#include <unistd.h>

enum { EXTERNAL_KINDS = 6, EXTERNAL_DEPTH = 64, WRAP_FROM = 0xfffffff0 };
enum { STILL_US = 2500000 };

struct external_stack {
	uint64_t ids[EXTERNAL_DEPTH];
	int depth;
};

static _Atomic uint32_t last_correlation;
static _Atomic uint64_t calls;
static _Atomic uint64_t inner_calls;
static __thread struct sim_call *innermost;
static __thread struct external_stack externals[EXTERNAL_KINDS];

static uint32_t new_correlation(void)
{
	uint32_t id = ++last_correlation;

	/* 0 means "none". */
	while (sim_knobs()->wrap_correlation ? id + WRAP_FROM == 0 : id == 0)
		id = ++last_correlation;
	return sim_knobs()->wrap_correlation ? id + WRAP_FROM : id;
}

void sim_call_ids_begin_anew(void)
{
	last_correlation = 0;
}

static CUpti_ActivityKind record_kind(const struct sim_call *call)
{
	return call->domain == CUPTI_CB_DOMAIN_DRIVER_API
		       ? CUPTI_ACTIVITY_KIND_DRIVER
		       : CUPTI_ACTIVITY_KIND_RUNTIME;
}

uint32_t sim_call_correlation(void)
{
	return innermost ? innermost->correlation : 0;
}

static void enter(struct sim_call *call)
{
	call->outer = innermost;
	innermost = call;
	call->correlation =
		call->outer ? call->outer->correlation : new_correlation();
	if (call->silent)
		return;
	callbacks_api(call, CUPTI_API_ENTER);
	call->start = clock_client_now();
}

int sim_call_begin(struct sim_call *call)
{
	const uint64_t fatal_after = sim_knobs()->fatal_after;

	call->result = life_ready(call->domain, call->function);
	if (call->result)
		call->silent = 1; /* dead, forked or not initialised */
	if (innermost)
		call->silent = 1;
	else if (!call->silent)
		second_look();
	enter(call);
	if (fatal_after && ++calls == fatal_after)
		callbacks_fatal();
	if (!call->result)
		call->result = knobs_failure(call->function);
	return call->result == 0;
}

static void record_externals(uint32_t correlation)
{
	for (uint32_t kind = 1; kind < EXTERNAL_KINDS; kind++) {
		const struct external_stack *stack = &externals[kind];
		CUpti_ActivityExternalCorrelation record = {
			.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
			.externalKind = (CUpti_ExternalCorrelationKind)kind,
			.correlationId = correlation,
		};

		if (!stack->depth)
			continue;
		record.externalId = stack->ids[stack->depth - 1];
		activity_emit(&record);
	}
}

static void leave_call(struct sim_call *call)
{
	const CUpti_ActivityKind kind = record_kind(call);

	innermost = call->outer;
	if (call->silent)
		return;
	const uint64_t end = clock_client_now();

	if (activity_api_enabled(kind, call->cbid)) {
		const CUpti_ActivityAPI record = {
			.kind = kind,
			.cbid = call->cbid,
			.start = call->start,
			.end = end,
			.processId = (uint32_t)getpid(),
			.threadId = activity_thread_id(),
			.correlationId = call->correlation,
			.returnValue = (uint32_t)call->result,
		};

		record_externals(call->correlation);
		activity_emit(&record);
	}
	callbacks_api(call, CUPTI_API_EXIT);
}

int sim_call_end(struct sim_call *call)
{
	leave_call(call);
	return call->result;
}

void sim_call_begin_inner(struct sim_call *call, uint32_t driver_cbid,
			  const char *function)
{
	*call = (struct sim_call){
		.domain = CUPTI_CB_DOMAIN_DRIVER_API,
		.cbid = driver_cbid,
		.function = function,
	};
	call->silent = !sim_knobs()->dup_driver || !innermost ||
		       innermost->silent ||
		       innermost->domain != CUPTI_CB_DOMAIN_RUNTIME_API;
	enter(call);
}

void sim_call_end_inner(struct sim_call *call)
{
	leave_call(call);
	if (!call->silent && ++inner_calls == sim_knobs()->still_at)
		usleep(STILL_US);
}

CUptiResult sim_push_external(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if ((int)kind <= 0 || (int)kind >= EXTERNAL_KINDS)
		return CUPTI_ERROR_INVALID_PARAMETER;

	struct external_stack *stack = &externals[kind];
	if (stack->depth == EXTERNAL_DEPTH)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	stack->ids[stack->depth++] = id;
	return CUPTI_SUCCESS;
}

CUptiResult sim_pop_external(CUpti_ExternalCorrelationKind kind, uint64_t *id)
{
	if ((int)kind <= 0 || (int)kind >= EXTERNAL_KINDS)
		return CUPTI_ERROR_INVALID_PARAMETER;

	struct external_stack *stack = &externals[kind];
	if (!stack->depth)
		return CUPTI_ERROR_QUEUE_EMPTY;
	stack->depth--;
	if (id)
		*id = stack->ids[stack->depth];
	return CUPTI_SUCCESS;
}
