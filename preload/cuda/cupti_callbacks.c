/* SPDX-License-Identifier: MIT */
/* cupti_callbacks.c - what CUPTI tells at once; see cupti_source.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_graph_memory.h"
#include "preload/cuda/cupti_pinned.h"
#include "preload/cuda/cupti_source.h"

#include "collector/session/gate.h"
#include "collector/system/clock.h"
#include "collector/system/futex.h"
#include "collector/system/log.h"
#include "collector/steps/steps.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "preload/cuda/cupti_side.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/quiet.h"
#include "preload/stack/call_places.h"
#include "preload/stack/unwind.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static CUpti_SubscriberHandle subscriber;
static _Atomic bool is_subscribed;

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
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000},
	{CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000},
	{CUPTI_CB_DOMAIN_RUNTIME_API, 505},
	{CUPTI_CB_DOMAIN_RUNTIME_API, 506},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz},
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

/* What a thread's gpu_call holds of a call that may begin a step, and goes on:
 * its thread and its number, and in bit 0 whether it only went into a graph. */
#define STEPS_AHEAD UINT64_C(100000000) /* of a second: 10 ns */

static uint64_t call_of(const struct thread *thread, uint32_t correlation)
{
	return (uint64_t)thread->tid << 32 | (correlation << 1);
}

/* By kernels only launches are called back for: for other calls `symbolName`
 * points anywhere. */
static bool is_marker(const CUpti_CallbackData *data)
{
	const char *text = steps_source() == STEP_KERNEL ? data->symbolName
							 : data->functionName;

	return text && matches(text);
}

/* --- the marker that a search has found ----------------------------------- */

/* Symbols and what they are as sites, by address as above.  Only the thread
 * whose loop it is looks. */
static struct {
	const char *text;
	uint64_t id;
} kernels[VERDICTS];

/* Why calls are called back for; the helper turns them. */
enum calls_for {
	CALLS_FOR_STEPS = 1,
	CALLS_FOR_STACKS = 2,
	CALLS_FOR_NAMES = 4,
	CALLS_FOR_PLACES = 8,
	/* which can begin no step: */
	CALLS_FOR_OTHERS =
		CALLS_FOR_STACKS | CALLS_FOR_NAMES | CALLS_FOR_PLACES,
};
static _Atomic uint32_t calls_are_on;

/* enum gpu_launch_kind of those that are called back for, the driver's second;
 * written before they are. */
static _Atomic uint8_t kinds[2][CUPTI_CALLS_MAX];

static enum gpu_launch_kind kind_of(CUpti_CallbackDomain domain,
				    CUpti_CallbackId number)
{
	const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;

	return number < CUPTI_CALLS_MAX ? (enum gpu_launch_kind)load_relaxed(
						  &kinds[is_driver][number])
					: GPU_LAUNCH_NONE;
}

static uint64_t kernel_id(const char *text)
{
	const size_t at = ((uintptr_t)text >> 3) % VERDICTS;

	if (kernels[at].text != text) {
		kernels[at].id = search_kernel(text);
		kernels[at].text = text;
	}
	return kernels[at].id;
}

/* What the writer takes the call for, from its records.  `symbolName` says
 * something only where a kernel is launched, and one that went into a graph is
 * on no record. */
static uint64_t id_of(const CUpti_CallbackData *data,
		      CUpti_CallbackDomain domain, CUpti_CallbackId number,
		      bool is_captured)
{
	if (!is_captured && data->symbolName && is_launch(domain, number))
		return kernel_id(data->symbolName);
	return search_call(domain == CUPTI_CB_DOMAIN_DRIVER_API, number);
}

/* By kernels launches are called back for all along, by calls all are. */
static bool is_always_on(CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	return steps_source() == STEP_CUDA ||
	       cupti_memory_call_of(domain, number) ||
	       (steps_source() == STEP_KERNEL && is_launch(domain, number));
}

static bool is_for(const char *name, uint32_t why)
{
	return (why & (CALLS_FOR_STEPS | CALLS_FOR_PLACES) &&
		cupti_launch_kind(name)) ||
	       (why & CALLS_FOR_STACKS && cupti_stacks_want(name)) ||
	       (why & CALLS_FOR_NAMES &&
		cupti_launch_kind(name) == GPU_LAUNCH_KERNEL);
}

static void turn_calls(CUpti_CallbackDomain domain, uint32_t was, uint32_t now)
{
	for (CUpti_CallbackId number = 1; number < CUPTI_CALLS_MAX; number++) {
		const char *name = NULL;

		if (cupti.cuptiGetCallbackName(domain, number, &name) !=
			    CUPTI_SUCCESS ||
		    !name || is_for(name, was) == is_for(name, now))
			continue;
		store_relaxed(
			&kinds[domain == CUPTI_CB_DOMAIN_DRIVER_API][number],
			(uint8_t)cupti_launch_kind(name));
		if (!is_always_on(domain, number))
			cupti.cuptiEnableCallback(is_for(name, now), subscriber,
						  domain, number);
	}
}

static void turn_calls_for(enum calls_for why, bool on)
{
	const uint32_t was = load_relaxed(&calls_are_on);
	const uint32_t now = on ? was | why : was & ~(uint32_t)why;

	if (was == now || !load_relaxed(&is_subscribed))
		return;
	turn_calls(CUPTI_CB_DOMAIN_RUNTIME_API, was, now);
	turn_calls(CUPTI_CB_DOMAIN_DRIVER_API, was, now);
	store_relaxed(&calls_are_on, now);
	futex_wake(&calls_are_on);
}

bool cupti_callbacks_await_names(void)
{
	uint32_t seen;

	while (!((seen = load_relaxed(&calls_are_on)) & CALLS_FOR_NAMES) &&
	       cupti_is_ours() && !cupti_flush_is_ending()) {
		if (!cupti_flush_await(&calls_are_on, seen))
			return false;
	}
	return true;
}

static bool are_followed(void)
{
	return load_relaxed(&calls_are_on) & CALLS_FOR_STEPS;
}

void cupti_callbacks_follow(const struct session *session)
{
	if (cupti_is_ours() && steps_want_calls(session) != are_followed())
		cupti_flush_wake();
}

void cupti_callbacks_turn(void)
{
	if (!cupti_is_ours())
		return;
	turn_calls_for(CALLS_FOR_STEPS,
		       steps_want_calls(load_relaxed(&session_here)));
	cupti_side_initialised();
	turn_calls_for(CALLS_FOR_NAMES, cupti_launch_names_are_wanted());
	turn_calls_for(CALLS_FOR_PLACES,
		       call_places_are_wanted(load_relaxed(&session_here)));
	if (load_relaxed(&is_subscribed))
		cupti_graphs_turn(subscriber);
}

void cupti_callbacks_stacks(bool on)
{
	if (on && unwind_wants(STACK_CUDA))
		cupti_stacks_start();
	turn_calls_for(CALLS_FOR_STACKS, on && unwind_wants(STACK_CUDA));
}

/* --- calls ---------------------------------------------------------------- */

/* Any thread's calls are called back for, one's are looked at. */
static bool is_followed(void)
{
	const struct session *session = load_relaxed(&session_here);
	struct thread *thread;

	if (!session || !steps_want_calls(session))
		return false;
	thread = hook_thread_of_any();
	return thread && steps_follow_calls(session, thread);
}

/* The call's own slice begins right after, perhaps in the same tick: the step
 * comes so much before it that the gap between two steps lies outside too. */
static uint64_t ahead(const struct session *session, uint64_t ticks)
{
	/* The machine's, whoever finds it first. */
	static _Atomic uint64_t by_ticks;
	uint64_t by = load_relaxed(&by_ticks);

	if (unlikely(!by)) {
		by = clock_ticks_per_second(&session->head->clock) /
		     STEPS_AHEAD;
		store_relaxed(&by_ticks, by);
	}
	return ticks - cupti_clock_error() - by;
}

static void mark(struct thread *thread, uint64_t ticks)
{
	struct session *session = load_relaxed(&session_here);

	add_relaxed(&inside, 1);
	steps_mark(session, thread, ahead(session, ticks));
	atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

static void mark_found(struct thread *thread, uint64_t id, uint64_t ticks,
		       uint32_t correlation)
{
	struct session *session = load_relaxed(&session_here);

	add_relaxed(&inside, 1);
	steps_call(session, thread, id, ahead(session, ticks), correlation);
	atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

static void call_begins(const CUpti_CallbackData *data)
{
	struct thread *thread = hook_thread_of_any();
	uint64_t call;

	if (!thread)
		return;
	call = call_of(thread, data->correlationId);
	/* A driver call inside a runtime call has its number. */
	if ((thread->gpu_call & ~UINT64_C(1)) == call)
		return;
	thread->gpu_call = call;
	*data->correlationData = clock_ticks();
	if (steps_source() == STEP_CUDA)
		mark(thread, *data->correlationData);
}

/* Only now it is known whether a kernel was launched at all: during a stream's
 * capture it became a node of a graph. */
static void call_ends(const CUpti_CallbackData *data,
		      CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	struct thread *thread = thread_self;
	const uint64_t start = *data->correlationData;
	const int *result = data->functionReturnValue;
	uint64_t call;

	if (!start || !thread_records(thread))
		return;
	call = thread->gpu_call;
	thread->gpu_call = 0;
	if (!result || *result ||
	    (call & ~UINT64_C(1)) != call_of(thread, data->correlationId))
		return;
	if (steps_source() == STEP_KERNEL && !(call & 1))
		mark(thread, start);
	else if (steps_source() == STEP_AUTO)
		mark_found(thread, id_of(data, domain, number, call & 1), start,
			   data->correlationId);
}

static bool has_others(void)
{
	return load_relaxed(&calls_are_on) & CALLS_FOR_OTHERS;
}

/* Steps that begin with a kernel or a call hold such calls, and nobody marks
 * where the last one ends. */
static void see_work(const CUpti_CallbackData *data,
		     CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	const enum step_source source = steps_source();

	if (!thread_records(thread_self) ||
	    load_relaxed(&steps_tid) != thread_self->tid)
		return;
	/* Of kernels only launches are called back for, but for stacks. */
	if ((source == STEP_KERNEL &&
	     (!has_others() || is_launch(domain, number))) ||
	    (source == STEP_CUDA && cupti_launch_kind(data->functionName)))
		steps_work(clock_ticks());
}

/* Other calls are called back for too, for their stacks. */
static bool may_step(CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	switch (steps_source()) {
	case STEP_CUDA: return true;
	case STEP_KERNEL: return is_launch(domain, number);
	case STEP_AUTO: return kind_of(domain, number) != GPU_LAUNCH_NONE;
	default: return false;
	}
}

/* Out of line: most calls are none of these, and save no registers for it. */
static NOINLINE void memory_call(enum cupti_memory_call memory,
				 const CUpti_CallbackData *data)
{
	if (memory <= CUPTI_UNPINS)
		cupti_pinned_call(memory, data);
	else if (memory <= CUPTI_EVENT_DESTROYED)
		cupti_events_call(memory, data);
	else if (memory <= CUPTI_GRAPH_LAUNCHED)
		cupti_graphs_call(memory, data);
	else if (memory == CUPTI_UNLOADED &&
		 data->callbackSite == CUPTI_API_ENTER)
		cupti_launch_names_unloaded();
	else if (memory == CUPTI_UNLOADED)
		return;
	else
		cupti_graph_memory_call(memory, data);
}

/* True: it is none that may begin a step. */
static bool is_of_memory(const CUpti_CallbackData *data,
			 CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	const enum cupti_memory_call memory =
		cupti_memory_call_of(domain, number);

	if (likely(memory == CUPTI_NO_MEMORY_CALL))
		return false;
	memory_call(memory, data);
	if (memory == CUPTI_GRAPH_LAUNCHED && steps_source() == STEP_AUTO)
		return false;
	return steps_source() != STEP_CUDA;
}

/* Who looks for the step asks from where it comes. */
static void note_place(const CUpti_CallbackData *data,
		       CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	const enum gpu_launch_kind kind = kind_of(domain, number);
	struct thread *thread = hook_thread_of_any();

	if (!thread || kind == GPU_LAUNCH_NONE)
		return;
	/* For other calls `symbolName` points anywhere. */
	call_places_note(
		thread, data->correlationId,
		kind == GPU_LAUNCH_KERNEL && is_launch(domain, number)
			? data->symbolName
			: NULL,
		search_call(domain == CUPTI_CB_DOMAIN_DRIVER_API, number));
}

/* That which begins no step. */
static NOINLINE void tell_others(const CUpti_CallbackData *data,
				 CUpti_CallbackDomain domain,
				 CUpti_CallbackId number, uint32_t others)
{
	/* Where the kinds stay on between windows these callbacks do too. */
	if (others & CALLS_FOR_STACKS && gate_bits() & GATE_RECORD_BITS)
		cupti_stacks_take(data);
	if (others & CALLS_FOR_NAMES && is_launch(domain, number))
		cupti_launch_names_note(data->correlationId, data->symbolName);
	if (others & CALLS_FOR_PLACES)
		note_place(data, domain, number);
}

static NOINLINE void call_came(const CUpti_CallbackData *data,
			       CUpti_CallbackDomain domain,
			       CUpti_CallbackId number)
{
	const uint32_t others = load_relaxed(&calls_are_on) & CALLS_FOR_OTHERS;
	const int saved = errno;

	if (!cupti_is_attached())
		return;
	if (unlikely(others))
		tell_others(data, domain, number, others);
	if (!is_of_memory(data, domain, number) &&
	    (likely(!others) || may_step(domain, number))) {
		*data->correlationData = 0;
		if ((steps_source() == STEP_AUTO ? is_followed()
						 : is_marker(data)) &&
		    life_is_running())
			call_begins(data);
	}
	errno = saved;
}

static NOINLINE void call_left(const CUpti_CallbackData *data,
			       CUpti_CallbackDomain domain,
			       CUpti_CallbackId number)
{
	const int saved = errno;

	if (!cupti_is_attached())
		return;
	if (!is_of_memory(data, domain, number)) {
		if (likely(!has_others()) || may_step(domain, number))
			call_ends(data, domain, number);
		if (unlikely(load_relaxed(&steps_tid)))
			see_work(data, domain, number);
	}
	errno = saved;
}

/* It began no step, as nearly none does: there is nothing to be done, and so
 * nothing that errno would have to be kept from. */
static bool is_dull_end(const CUpti_CallbackData *data,
			CUpti_CallbackDomain domain, CUpti_CallbackId number)
{
	return !*data->correlationData && !load_relaxed(&steps_tid) &&
	       cupti_memory_call_of(domain, number) == CUPTI_NO_MEMORY_CALL;
}

/* What is done once allocates, in atexit() and in CUPTI. */
static void cuda_starts(enum cupti_moment moment)
{
	const struct quiet quiet = quiet_begin();

	cupti_side_initialised();
	cupti_flush_at_exit(moment);
	quiet_end(&quiet);
}

static void look_at_resource(CUpti_CallbackId number, const void *data)
{
	switch (number) {
	case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
		cuda_starts(CUPTI_FIRST_CONTEXT);
		break;
	case CUPTI_CBID_RESOURCE_CU_INIT_FINISHED:
		cuda_starts(CUPTI_INITIALISED);
		break;
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
		cupti_nodes_note();
		/* fallthrough */
	default: cupti_graphs_called(number, data); break;
	}
}

static NOINLINE void state_came(CUpti_CallbackDomain domain,
				CUpti_CallbackId number, const void *data)
{
	const int saved = errno;

	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		look_at_resource(number, data);
	} else if (domain == CUPTI_CB_DOMAIN_STATE && cupti_is_attached()) {
		/* CUPTI has ended itself, with what it had. */
		store_relaxed(&load_relaxed(&session_here)->head->gpu.is_cut,
			      1);
		cupti_kill();
		session_note(load_relaxed(&session_here),
			     "CUPTI stopped after a fatal error of the GPU");
	}
	errno = saved;
}

static void CUPTIAPI cupti_callback(void *unused, CUpti_CallbackDomain domain,
				    CUpti_CallbackId number, const void *data)
{
	const CUpti_CallbackData *call = data;

	(void)unused;
	if (domain != CUPTI_CB_DOMAIN_RUNTIME_API &&
	    domain != CUPTI_CB_DOMAIN_DRIVER_API)
		state_came(domain, number, data);
	else if (call->callbackSite == CUPTI_API_ENTER)
		call_came(call, domain, number);
	else if (!is_dull_end(call, domain, number))
		call_left(call, domain, number);
}

int cupti_callbacks_subscribe(char *holder, size_t bytes)
{
	const struct session_header *head = load_relaxed(&session_here)->head;
	CUpti_SubscriberParams params = {
		.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.subscriberName = "traceprof",
		.oldSubscriberName = holder,
		.oldSubscriberSize = bytes,
	};

	CUptiResult rc = CUPTI_SUCCESS;

	if (!cupti_share_subscribe((enum cupti_share)head->options.cupti_share,
				   head->gpu.cupti_version, &subscriber,
				   cupti_callback))
		rc = cupti.cuptiSubscribe_v2
			     ? cupti.cuptiSubscribe_v2(&subscriber,
						       cupti_callback, NULL,
						       &params)
			     : cupti.cuptiSubscribe(&subscriber, cupti_callback,
						    NULL);

	store_relaxed(&is_subscribed, rc == CUPTI_SUCCESS);
	return (int)rc;
}

void cupti_callbacks_unsubscribe(void)
{
	if (atomic_exchange_explicit(&is_subscribed, false,
				     memory_order_relaxed) &&
	    cupti.cuptiUnsubscribe)
		cupti.cuptiUnsubscribe(subscriber);
	store_relaxed(&calls_are_on, false);
}

bool cupti_callbacks_return(bool kept)
{
	char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];

	if (load_relaxed(&is_subscribed))
		return true;
	if (kept || cupti_callbacks_subscribe(holder, sizeof(holder)))
		return false;
	cupti_callbacks_start();
	return true;
}

void cupti_callbacks_start(void)
{
	static const CUpti_CallbackId resources[] = {
		CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
		CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
		CUPTI_CBID_RESOURCE_GRAPH_CREATED,
		CUPTI_CBID_RESOURCE_GRAPH_CLONED,
		CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING,
		CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
		CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
		CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
		CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
		CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
		CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
	};

	cupti_nodes_start();
	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		cupti.cuptiEnableCallback(
			1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, resources[i]);
	cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_STATE,
				  CUPTI_CBID_STATE_FATAL_ERROR);
	cupti_pinned_start(subscriber);
	cupti_graphs_start(subscriber);
	cupti_graph_memory_start(subscriber);
	cupti_events_start(subscriber);
	cupti_launch_names_start(subscriber);
	/* From the first call on, so that each run tells the same. */
	if (call_places_are_wanted(load_relaxed(&session_here)))
		cupti_stacks_start();
	turn_calls_for(CALLS_FOR_PLACES,
		       call_places_are_wanted(load_relaxed(&session_here)));
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

void cupti_callbacks_events(void)
{
	if (cupti_is_ours() && load_relaxed(&is_subscribed))
		cupti_events_start(subscriber);
}

void cupti_callbacks_forget(void)
{
	cupti_nodes_forget();
	store_relaxed(&calls_are_on, 0);
}

#endif
