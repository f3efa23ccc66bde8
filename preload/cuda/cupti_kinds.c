/* SPDX-License-Identifier: MIT */
/*
 * cupti_kinds.c - what CUPTI records, and when.
 *
 * Until something is wanted of the GPU every kind is off, and a launch costs
 * next to nothing.  They go on when a window begins or in the warm-up before
 * it, where a step is searched for, or begins with a kernel or a call; that may
 * be as soon as we attach.  Between windows they stay on with each version of
 * CUPTI, and they go off when all that was launched in the last one has
 * arrived, but where that may hang (cupti_versions.h).
 *
 * CUPTI's calls may take long, or hang.  So they are made by the helper
 * (cupti_flush.c); who wants the kinds on or off leaves a wish, and the thread
 * that begins a window waits for it for a limited time.  Only the first time,
 * inside of cuInit(), the kinds are turned where we attach: the helper's calls
 * would wait there for the end of it, and after that nothing of ours runs in
 * the program before its first launch, of which nothing is to be missing.  A
 * call that hangs there hangs the program; none is known to.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/session/gate.h"
#include "collector/steps/steps.h"
#include "collector/system/clock.h"
#include "collector/system/futex.h"
#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_side.h"
#include "collector/system/cupti_versions.h"

/* Kinds that follow the windows, beside kernels: to switch those off takes
 * time, and hangs in some versions. */
static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_MEMCPY,	     CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_MEMSET,	     CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER,	     CUPTI_ACTIVITY_KIND_OVERHEAD,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_MEMORY2,
	CUPTI_ACTIVITY_KIND_CUDA_EVENT,
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
	/* The runtime calls it before each launch while CUPTI has a client. */
	CUPTI_DRIVER_TRACE_CBID_cuKernelGetName,
	CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
	CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
	CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
	CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
	CUPTI_DRIVER_TRACE_CBID_cuStreamGetCtx,
	CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2,
	CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
};

/* Bit 0: on; above it wishes are counted, so that one is never taken back by
 * who has not seen it. */
static _Atomic uint32_t wanted;
static _Atomic uint32_t are_on;
static _Atomic uint64_t since_ticks; /* when they came on last */
static _Atomic uint32_t turned;	     /* counts; futex word */
static _Atomic uint32_t turning;
static _Atomic uint32_t is_late; /* the helper was waited for in vain */
static bool whole_graphs;

/* What CUPTI answers where without it there is nothing to be seen; who turns
 * alone writes. */
static struct {
	CUptiResult kernels, runtime, driver;
	bool is_said;
	_Atomic bool lacks_kernels;
	_Atomic bool gives_nothing; /* it is not asked again */
} refused;

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
	const CUptiResult rc = cupti.cuptiActivityEnable(kind);

	if (rc != CUPTI_SUCCESS)
		session_note(load_relaxed(&session_here),
			     "CUPTI refuses records of kind %d: error %d",
			     (int)kind, (int)rc);
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: refused.kernels = rc; break;
	case CUPTI_ACTIVITY_KIND_RUNTIME: refused.runtime = rc; break;
	case CUPTI_ACTIVITY_KIND_DRIVER: refused.driver = rc; break;
	default: break;
	}
}

static void turn_others(bool on)
{
	cupti_callbacks_stacks(on);
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
}

/* All have been asked for.  What it gives although it refuses kernels and calls
 * would belong to nothing. */
static void look_at_refusals(void)
{
	const CUptiResult calls =
		refused.driver ? refused.runtime : CUPTI_SUCCESS;

	if (refused.is_said || (!refused.kernels && !calls))
		return;
	refused.is_said = true;
	store_relaxed(&refused.lacks_kernels, refused.kernels != 0);
	if (refused.kernels && calls) {
		turn_others(false);
		store_relaxed(&refused.gives_nothing, true);
	}
	cupti_attach_refused((int)refused.kernels, (int)calls);
}

static void turn(bool on)
{
	const CUpti_ActivityKind kernels =
		CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

	if (load_relaxed(&refused.gives_nothing))
		return;
	if (on) {
		store_relaxed(&since_ticks, clock_ticks());
		enable(kernels);
	}
	turn_others(on);
	if (on) {
		tell_of_quiet(0);
		look_at_refusals();
	} else {
		cupti.cuptiActivityDisable(kernels);
	}
}

/* As wished last, which may change meanwhile. */
static void turn_as_wished(void)
{
	for (;;) {
		uint32_t now;

		/* Either we see a wish, or who left it sees that we turn. */
		atomic_thread_fence(memory_order_seq_cst);
		now = load_relaxed(&wanted) & 1;
		if (now == load_relaxed(&are_on))
			return;
		turn(now);
		store_relaxed(&are_on, now);
	}
}

void cupti_kinds_turn(void)
{
	while (cupti_may_be_turned() &&
	       (load_relaxed(&wanted) & 1) != load_relaxed(&are_on)) {
		store_relaxed(&turning, 1);
		turn_as_wished();
		store_relaxed(&turning, 0);
		store_relaxed(&is_late, 0);
		/* RELEASE pairs with ACQUIRE in cupti_kinds_await(): what is
		 * on. */
		atomic_fetch_add_explicit(&turned, 1, memory_order_release);
		futex_wake(&turned);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

bool cupti_kinds_are_on(void)
{
	return load_relaxed(&are_on) && !load_relaxed(&refused.gives_nothing);
}

bool cupti_kinds_lack_kernels(void)
{
	return load_relaxed(&refused.lacks_kernels);
}

uint64_t cupti_kinds_since(void)
{
	return load_relaxed(&since_ticks);
}

/* False: somebody wished something since `seen`. */
static bool wish(uint32_t seen, bool on)
{
	const uint32_t mine = ((seen | 1) + 1) | on;

	if (!atomic_compare_exchange_strong_explicit(&wanted, &seen, mine,
						     memory_order_relaxed,
						     memory_order_relaxed))
		return false;
	atomic_thread_fence(memory_order_seq_cst);
	if (load_relaxed(&are_on) != on || load_relaxed(&turning))
		cupti_flush_wake();
	return true;
}

void cupti_kinds_want(bool on)
{
	/* What it is wanted for is visible before the wish. */
	atomic_thread_fence(memory_order_seq_cst);
	while (!wish(load_relaxed(&wanted), on))
		;
}

bool cupti_kinds_await(void)
{
	const uint64_t end =
		clock_monotonic_ns() + UINT64_C(1000000) * CUPTI_TURN_MS;

	for (;;) {
		/* ACQUIRE pairs with RELEASE in cupti_kinds_turn(). */
		const uint32_t seen = load_acquire(&turned);
		uint64_t now;

		if (!cupti_is_ours() ||
		    (load_relaxed(&are_on) && !load_relaxed(&turning)))
			return true;
		now = clock_monotonic_ns();
		if (now >= end || load_relaxed(&is_late))
			break;
		futex_wait(&turned, seen, end - now);
	}
	store_relaxed(&is_late, 1);
	return false;
}

/* Nothing needs them any more, and switching them off does no harm.  Between
 * windows it does with each version: the next one's kernels go astray. */
static bool may_rest(const struct session *session)
{
	return !cupti_has(CUPTI_DEFECT_DISABLING) && steps_are_over(session);
}

/* The gate opens first, then we are told, then the window begins. */
static bool are_needed(const struct session *session)
{
	return gate_bits() & GATE_RECORD_BITS || steps_want_gpu(session);
}

void cupti_kinds_follow(const struct session *session)
{
	if (!load_relaxed(&are_on) && steps_want_gpu(session) &&
	    !load_relaxed(&turning))
		cupti_kinds_want(true);
}

void cupti_kinds_leave(void (*before_kernels)(void))
{
	const bool were_on = load_relaxed(&are_on);

	if (were_on) {
		tell_of_quiet(1);
		turn_others(false);
	}
	store_relaxed(&are_on, 0);
	if (cupti.cuptiActivityEnableCudaEventDeviceTimestamps)
		cupti.cuptiActivityEnableCudaEventDeviceTimestamps(0);
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DEVICE);
	cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONTEXT);
	cupti_side_leave();
	before_kernels();
	if (were_on)
		cupti.cuptiActivityDisable(
			CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

void cupti_kinds_rest(const struct session *session)
{
	const uint32_t seen = load_relaxed(&wanted);

	/* Who opens a window after this look wishes after it too. */
	atomic_thread_fence(memory_order_seq_cst);
	if (load_relaxed(&are_on) && !are_needed(session) && may_rest(session))
		wish(seen, false);
}

void cupti_kinds_forget(void)
{
	store_relaxed(&wanted, 0);
	store_relaxed(&are_on, 0);
	store_relaxed(&turning, 0);
	store_relaxed(&is_late, 0);
	refused.is_said = false;
	store_relaxed(&refused.lacks_kernels, false);
	store_relaxed(&refused.gives_nothing, false);
}

#endif
