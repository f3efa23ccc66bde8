/* SPDX-License-Identifier: MIT */
/* nvml.c - asks libnvidia-ml in the background; see nvml.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/nvml.h"

#include "collector/session/gate.h"
#include "collector/session/thread.h"
#include "collector/system/futex.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "preload/cuda/cupti_source.h"
#include "preload/process/process.h"
#include <dlfcn.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>

#define PERIOD_NS    UINT64_C(100000000)
/* The end of the program waits so long for a call that is under way. */
#define END_MS	     50u
#define STACK_BYTES  (256u << 10)
#define CLOCK_SM     1 /* NVML_CLOCK_SM */
#define CLOCK_MEMORY 2 /* NVML_CLOCK_MEM */
#define SENSOR_GPU   0 /* NVML_TEMPERATURE_GPU */

struct utilization {
	unsigned int gpu, memory;
};

struct memory {
	unsigned long long total, free, used;
};

/* X(name, parameters): NVML's own types written out, since CUDA's headers may
 * be there without NVML's. */
/* clang-format off */
#define NVML_FUNCTIONS(X)						\
	X(nvmlInit_v2, (void))						\
	X(nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))	\
	X(nvmlDeviceGetUtilizationRates,				\
	  (void *device, struct utilization *rates))			\
	X(nvmlDeviceGetMemoryInfo, (void *device, struct memory *memory)) \
	X(nvmlDeviceGetPowerUsage, (void *device, unsigned int *milliwatts)) \
	X(nvmlDeviceGetClockInfo,					\
	  (void *device, int clock, unsigned int *megahertz))		\
	X(nvmlDeviceGetTemperature,					\
	  (void *device, int sensor, unsigned int *celsius))		\
	X(nvmlDeviceGetCurrentClocksEventReasons,			\
	  (void *device, unsigned long long *reasons))
/* clang-format on */

static struct {
#define X(name, parameters) int(*name) parameters;
	NVML_FUNCTIONS(X)
#undef X
} nvml;

static struct {
	_Atomic uint32_t turn; /* futex word: something changed */
	_Atomic uint32_t is_open;
	_Atomic uint32_t is_over;
	_Atomic uint32_t is_asking; /* futex word: a call is under way */
	_Atomic uint32_t runs;
	struct thread *thread; /* whose ring takes the samples */
	void *device[GPU_DEVICES_MAX];
	bool was_sought[GPU_DEVICES_MAX];
	uint64_t last_ticks; /* of the round before */
} sampler;

void nvml_follow(bool open)
{
	if (!load_relaxed(&sampler.runs) ||
	    load_relaxed(&sampler.is_open) == open)
		return;
	store_relaxed(&sampler.is_open, open);
	add_relaxed(&sampler.turn, 1);
	futex_wake(&sampler.turn);
}

static bool find_functions(void)
{
	static const char names[][40] = {
#define X(name, parameters) #name,
		NVML_FUNCTIONS(X)
#undef X
	};
	void **const places = (void **)(void *)&nvml;
	const bool keeps_forks_out = loader_enter();
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < sizeof(names) / sizeof(*names); i++)
		places[i] = dlsym(library, names[i]);
	/* The name until 12.2's driver. */
	if (library && !nvml.nvmlDeviceGetCurrentClocksEventReasons)
		*(void **)(void *)&nvml.nvmlDeviceGetCurrentClocksEventReasons =
			dlsym(library,
			      "nvmlDeviceGetCurrentClocksThrottleReasons");
	if (keeps_forks_out)
		loader_leave();
	return library && nvml.nvmlInit_v2 && nvml.nvmlDeviceGetHandleByUUID;
}

static bool open_library(struct session *session)
{
	int rc;

	if (!find_functions()) {
		session_note(session, "no libnvidia-ml: load, power and clocks "
				      "of GPUs are not sampled");
		return false;
	}
	rc = nvml.nvmlInit_v2();
	if (rc)
		session_note(session,
			     "NVML: error %d: load, power and clocks of GPUs "
			     "are not sampled",
			     rc);
	return !rc;
}

/* By the number that CUDA knows it by; NULL: not described yet, or unknown to
 * NVML. */
static void *find_device(struct session *session, uint32_t number)
{
	const struct gpu_device *known = &session->head->gpu.device[number];
	const uint8_t *id = known->is_mig ? known->mig_uuid : known->uuid;
	char text[48];
	size_t at;

	if (sampler.was_sought[number] || !known->is_known)
		return sampler.device[number];
	sampler.was_sought[number] = true;
	at = log_format(text, sizeof(text), known->is_mig ? "MIG-" : "GPU-");
	for (int i = 0; i < 16; i++)
		at += log_format(text + at, sizeof(text) - at, "%s%02x",
				 i == 4 || i == 6 || i == 8 || i == 10 ? "-"
								       : "",
				 id[i]);
	if (nvml.nvmlDeviceGetHandleByUUID(text, &sampler.device[number]))
		sampler.device[number] = NULL;
	return sampler.device[number];
}

/* What can't be had is left out; a GPU of which nothing can says nothing. */
static struct event look_at(void *device, uint32_t number)
{
	struct event event = {.kind = EVENT_GPU_SAMPLE,
			      .sample.device = number};
	struct utilization rates;
	struct memory memory;
	unsigned long long reasons = 0;
	unsigned int value;

#define ASK(name, ...) (nvml.name && !nvml.name(device, __VA_ARGS__))
	if (ASK(nvmlDeviceGetUtilizationRates, &rates)) {
		event.sample.utilization = (uint16_t)rates.gpu;
		event.sample.known |= GPU_KNOWS_LOAD;
	}
	if (ASK(nvmlDeviceGetMemoryInfo, &memory)) {
		event.sample.memory_bytes = memory.used;
		event.sample.known |= GPU_KNOWS_MEMORY;
	}
	if (ASK(nvmlDeviceGetPowerUsage, &event.sample.milliwatts))
		event.sample.known |= GPU_KNOWS_POWER;
	if (ASK(nvmlDeviceGetClockInfo, CLOCK_SM, &event.sample.clock_mhz))
		event.sample.known |= GPU_KNOWS_CLOCK;
	if (!ASK(nvmlDeviceGetClockInfo, CLOCK_MEMORY,
		 &event.sample.memory_mhz))
		event.sample.memory_mhz = 0;
	if (ASK(nvmlDeviceGetTemperature, SENSOR_GPU, &value)) {
		event.sample.celsius = (uint16_t)value;
		event.sample.known |= GPU_KNOWS_HEAT;
	}
	if (ASK(nvmlDeviceGetCurrentClocksEventReasons, &reasons))
		event.sample.reasons = (uint16_t)reasons;
#undef ASK
	return event;
}

static void leave(const struct event *event)
{
	struct event *slot = ring_reserve(&sampler.thread->ring, 1);

	if (!slot)
		return;
	*slot = *event;
	ring_commit(&sampler.thread->ring, 1, 1);
}

/* One sample of each GPU, for the time since the round before.  True: there was
 * one to look at. */
static bool sample(struct session *session)
{
	bool any = false;

	for (uint32_t i = 0; i < GPU_DEVICES_MAX; i++) {
		void *device = find_device(session, i);
		struct event event;

		if (!device)
			continue;
		any = true;
		event = look_at(device, i);
		event.start_ticks = sampler.last_ticks;
		event.end_ticks = clock_ticks();
		/* It may have taken until after the end. */
		if (event.sample.known && !load_relaxed(&sampler.is_over))
			leave(&event);
	}
	sampler.last_ticks = clock_ticks();
	return any;
}

static void set_asking(bool asks)
{
	/* RELEASE pairs with ACQUIRE in nvml_end(): what was left. */
	store_release(&sampler.is_asking, asks);
	if (!asks)
		futex_wake(&sampler.is_asking);
}

/* From a window's begin to its end. */
static void follow_window(struct session *session)
{
	sampler.last_ticks = clock_ticks();
	while (load_relaxed(&sampler.is_open) &&
	       !load_relaxed(&sampler.is_over)) {
		const uint32_t seen = load_relaxed(&sampler.turn);

		set_asking(true);
		/* The devices are described in CUPTI's first buffer. */
		if (!sample(session))
			cupti_flush_ask();
		set_asking(false);
		if (load_relaxed(&sampler.is_open))
			futex_wait(&sampler.turn, seen, PERIOD_NS);
	}
}

static void *run(void *unused)
{
	struct session *session = load_relaxed(&session_here);
	bool is_ready = false;

	(void)unused;
	thread_busy();
	prctl(PR_SET_NAME, "traceprof-nvml", 0, 0, 0);
	if (process.affinity_bytes > 0)
		sched_setaffinity(0, (size_t)process.affinity_bytes,
				  (const cpu_set_t *)process.affinity);
	while (!load_relaxed(&sampler.is_over)) {
		const uint32_t seen = load_relaxed(&sampler.turn);

		if (!load_relaxed(&sampler.is_open)) {
			futex_wait(&sampler.turn, seen, UINT64_MAX);
			continue;
		}
		if (!is_ready) {
			sampler.thread = thread_enter(session);
			thread_busy();
			if (!sampler.thread || !open_library(session))
				break;
			is_ready = true;
		}
		follow_window(session);
	}
	store_relaxed(&sampler.runs, 0);
	return NULL;
}

void nvml_start(void)
{
	if (!process.options.nvml)
		return;
	store_relaxed(&sampler.runs, 1);
	if (background_start(run, STACK_BYTES))
		store_relaxed(&sampler.runs, 0);
}

void nvml_end(void)
{
	const uint64_t end = clock_monotonic_ns() + UINT64_C(1000000) * END_MS;

	store_relaxed(&sampler.is_over, 1);
	add_relaxed(&sampler.turn, 1);
	futex_wake(&sampler.turn);
	/* ACQUIRE pairs with RELEASE in set_asking(): the last samples. */
	while (load_acquire(&sampler.is_asking)) {
		const uint64_t now = clock_monotonic_ns();

		if (now >= end)
			return;
		futex_wait(&sampler.is_asking, 1, end - now);
	}
}

void nvml_forget(void)
{
	memset(&sampler, 0, sizeof(sampler));
}

#endif
