/* SPDX-License-Identifier: MIT */
/*
 * cupti_kinds.c - what CUPTI records, and when.
 *
 * Outside windows every kind is off, and a launch costs next to nothing.  They
 * go on at the first step of a window, on the thread that steps, and off again
 * when all that was launched in it has arrived, on the writer's.  Nobody waits
 * for the other: who comes second leaves what it wants, and the first one looks
 * again.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/steps/steps.h"
#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_side.h"
#include <sched.h>

/* Kinds that follow the windows. */
static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,	       CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_RUNTIME,	       CUPTI_ACTIVITY_KIND_DRIVER,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_OVERHEAD,
	CUPTI_ACTIVITY_KIND_MEMORY2,	       CUPTI_ACTIVITY_KIND_CUDA_EVENT,
};

/* Calls that say nothing and are made all the time. */
static const CUpti_CallbackId quiet_runtime[] = {
	CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaRuntimeGetVersion_v3020,
};

static const CUpti_CallbackId quiet_driver[] = {
	CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
	CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
	CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
	CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
	CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
	CUPTI_DRIVER_TRACE_CBID_cuStreamGetCtx,
	CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2,
	CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
};

static _Atomic uint32_t wanted;
static _Atomic uint32_t are_on;
static _Atomic uint32_t turning;
static bool whole_graphs;

void cupti_kinds_start(const struct options *options, bool late)
{
	__typeof__(cupti.cuptiActivityEnable) tell = cupti.cuptiActivityEnable;

	whole_graphs = options->graphs == GRAPHS_GRAPH;
	/* Devices are told of once, to who is there before they are opened; who
	 * comes later must ask. */
	if (late && cupti.cuptiActivityEnableAndDump)
		tell = cupti.cuptiActivityEnableAndDump;
	tell(CUPTI_ACTIVITY_KIND_DEVICE);
	tell(CUPTI_ACTIVITY_KIND_CONTEXT);
	cupti_side_start(options, late);
	if (cupti.cuptiActivityEnableCudaEventDeviceTimestamps)
		cupti.cuptiActivityEnableCudaEventDeviceTimestamps(1);
}

static void tell_of_quiet(uint8_t on)
{
	if (cupti.cuptiActivityEnableRuntimeApi) {
		for (size_t i = 0;
		     i < sizeof(quiet_runtime) / sizeof(quiet_runtime[0]); i++)
			cupti.cuptiActivityEnableRuntimeApi(quiet_runtime[i],
							    on);
	}
	if (cupti.cuptiActivityEnableDriverApi) {
		for (size_t i = 0;
		     i < sizeof(quiet_driver) / sizeof(quiet_driver[0]); i++)
			cupti.cuptiActivityEnableDriverApi(quiet_driver[i], on);
	}
	/* Else each look at an event that isn't reached yet is a record. */
	if (cupti.cuptiActivityEnableAllSyncRecords)
		cupti.cuptiActivityEnableAllSyncRecords(on);
}

/* A kind that is refused leaves the others as they are. */
static void enable(CUpti_ActivityKind kind)
{
	static _Atomic uint64_t said;
	const CUptiResult rc = cupti.cuptiActivityEnable(kind);
	const uint64_t bit = UINT64_C(1) << ((unsigned int)kind % 64);

	if (rc != CUPTI_SUCCESS && !(load_relaxed(&said) & bit)) {
		store_relaxed(&said, load_relaxed(&said) | bit);
		session_note(load_relaxed(&session_here),
			     "CUPTI refuses records of kind %d: error %d",
			     (int)kind, (int)rc);
	}
}

static void turn(bool on)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (on)
			enable(kinds[i]);
		else
			cupti.cuptiActivityDisable(kinds[i]);
	}
	cupti_side_turn(&load_relaxed(&session_here)->head->options, on,
			enable);
	/* Both kinds give graphs alone; that is why it is one or the other. */
	if (whole_graphs && on)
		enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	else if (whole_graphs)
		cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	if (on)
		tell_of_quiet(0);
}

void cupti_kinds_want(bool on)
{
	/* What it is wanted for is visible before the wish. */
	atomic_thread_fence(memory_order_seq_cst);
	store_relaxed(&wanted, on);
	for (;;) {
		/* Either we see the newest wish, or who left it sees that
		 * nobody turns. */
		atomic_thread_fence(memory_order_seq_cst);
		const uint32_t now = load_relaxed(&wanted);

		if (!cupti_is_ours() || now == load_relaxed(&are_on))
			return;
		/* ACQUIRE pairs with RELEASE below: one turn after another. */
		if (atomic_exchange_explicit(&turning, 1, memory_order_acquire))
			return;
		if (now != load_relaxed(&are_on) && cupti_is_ours()) {
			turn(now);
			store_relaxed(&are_on, now);
		}
		store_release(&turning, 0);
	}
}

void cupti_kinds_leave(void)
{
	/* ACQUIRE pairs with RELEASE in cupti_kinds_want(). */
	while (atomic_exchange_explicit(&turning, 1, memory_order_acquire))
		sched_yield();
	if (load_relaxed(&are_on)) {
		tell_of_quiet(1);
		turn(false);
	}
	store_relaxed(&are_on, 0);
	if (cupti.cuptiActivityEnableCudaEventDeviceTimestamps)
		cupti.cuptiActivityEnableCudaEventDeviceTimestamps(0);
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DEVICE);
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONTEXT);
	cupti_side_leave();
	store_release(&turning, 0);
}

void cupti_kinds_rest(const struct session *session)
{
	if (!load_relaxed(&are_on) || steps_want_gpu(session))
		return;
	cupti_kinds_want(false);
	/* A window that opened since the look had its wish before ours, and
	 * lost it. */
	if (steps_want_gpu(session))
		cupti_kinds_want(true);
}

void cupti_kinds_forget(void)
{
	store_relaxed(&wanted, 0);
	store_relaxed(&are_on, 0);
	store_relaxed(&turning, 0);
}

#endif
