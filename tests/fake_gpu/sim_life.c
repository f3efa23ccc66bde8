/* SPDX-License-Identifier: MIT */
/*
 * sim_life.c - the driver's life.
 *
 * cuInit() loads the library that CUDA_INJECTION64_PATH names and calls its
 * InitializeInjection(), then registers the driver's teardown with atexit(): a
 * tool that registers its own handler any earlier is called after the driver
 * is dead.  A forked child can use nothing.
 */
#include "tests/fake_gpu/sim_life.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_callbacks.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_knobs.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NULL_STREAM_ID = 7, COMPUTE_API_CUDA = 1 };

static _Atomic int state;
static _Atomic pid_t owner;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int (*_Atomic runtime_start)(void);
static struct {
	_Atomic(CUcontext) handle;
	_Atomic uint32_t id;
} contexts[MOST_DEVICES];
static _Atomic uint32_t last_context;
static __thread uint32_t device;

/* Contexts that the program makes itself, beside the devices' primary ones. */
static struct made {
	uint32_t id, device;
} made[MOST_MADE];
static uint32_t made_count;
static __thread struct made *current;

enum life life_state(void)
{
	return (enum life)state;
}

static void tear_down(void)
{
	state = LIFE_DEAD;
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*start)(void) = NULL;

	if (library)
		*(void **)&start = dlsym(library, "InitializeInjection");
	if (start && !start())
		dlclose(library);
}

int life_initialise(void)
{
	if (sim_knobs()->driver_absent)
		return CUDA_ERROR_NO_DEVICE;
	pthread_mutex_lock(&lock);
	if (state == LIFE_BEFORE) {
		state = LIFE_STARTING;
		owner = getpid();
		inject();
		if (sim_knobs()->init_ns)
			clock_sleep_until(clock_device_now() +
					  sim_knobs()->init_ns);
		if (!sim_knobs()->init_silent)
			atexit(tear_down);
		state = LIFE_READY;
		life_dump(CUPTI_ACTIVITY_KIND_DEVICE);
		if (!sim_knobs()->init_silent)
			callbacks_resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
					   NULL, NULL);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

void life_set_runtime_start(int (*start)(void))
{
	runtime_start = start;
}

int life_ready(CUpti_CallbackDomain domain, const char *function)
{
	const int runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;

	if (state == LIFE_DEAD)
		return CUDA_ERROR_DEINITIALIZED;
	if (owner && owner != getpid())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (runtime && state != LIFE_READY && runtime_start) {
		const int error = runtime_start();

		if (error)
			return error;
	}
	if (runtime)
		life_need_context();
	else if (state == LIFE_BEFORE && strcmp(function, "cuInit") != 0 &&
		 strcmp(function, "cuDriverGetVersion") != 0)
		return CUDA_ERROR_NOT_INITIALIZED;
	return 0;
}

uint32_t life_device(void)
{
	return current ? current->device : device;
}

int life_set_device(int wanted)
{
	if (wanted < 0 || wanted >= sim_knobs()->devices)
		return 0;
	device = (uint32_t)wanted;
	current = NULL;
	return 1;
}

CUcontext life_context(void)
{
	return current ? (CUcontext)current : contexts[device].handle;
}

uint32_t life_context_id(void)
{
	return current ? current->id : contexts[device].id;
}

uint32_t life_own_context(void)
{
	return current ? current->id : 0;
}

CUcontext life_make_context(int on)
{
	CUcontext context = NULL;

	pthread_mutex_lock(&lock);
	if (on >= 0 && on < sim_knobs()->devices && made_count < MOST_MADE) {
		current = &made[made_count++];
		*current = (struct made){++last_context, (uint32_t)on};
		context = (CUcontext)current;
		life_dump(CUPTI_ACTIVITY_KIND_CONTEXT);
		callbacks_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context,
				   NULL);
	}
	pthread_mutex_unlock(&lock);
	return context;
}

void life_set_context(CUcontext context)
{
	struct made *one = (struct made *)context;

	current = one >= made && one < made + MOST_MADE ? one : NULL;
}

void life_end_context(CUcontext context)
{
	callbacks_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
			   context, NULL);
	if (context == (CUcontext)current)
		current = NULL;
}

CUcontext life_need_context(void)
{
	static char bodies[1024];

	if (life_context())
		return life_context();
	pthread_mutex_lock(&lock);
	if (!contexts[device].handle) {
		contexts[device].id = ++last_context;
		contexts[device].handle =
			(CUcontext)&bodies[last_context % sizeof(bodies)];
		if (sim_knobs()->init_silent && last_context == 1)
			atexit(tear_down);
		life_dump(CUPTI_ACTIVITY_KIND_CONTEXT);
		callbacks_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
				   contexts[device].handle, NULL);
	}
	pthread_mutex_unlock(&lock);
	return contexts[device].handle;
}

void life_reset(void)
{
	pthread_mutex_lock(&lock);
	if (contexts[device].handle)
		callbacks_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
				   contexts[device].handle, NULL);
	contexts[device].handle = NULL;
	pthread_mutex_unlock(&lock);
}

int life_driver_alive(void)
{
	return state != LIFE_DEAD && !sim_knobs()->driver_absent;
}

/* Those that CUDA_VISIBLE_DEVICES hides have the numbers of others. */
static void dump_devices(void)
{
	CUpti_ActivityDevice5 record = {.kind = CUPTI_ACTIVITY_KIND_DEVICE};

	for (int i = 0; i < sim_knobs()->devices; i++) {
		device_describe(&record, (uint32_t)i);
		activity_emit(&record);
	}
	for (int i = 0; i < sim_knobs()->hidden_devices; i++) {
		device_describe(&record, (uint32_t)i);
		record.name = "Hidden GPU";
		record.isCudaVisible = 0;
		activity_emit(&record);
	}
}

/* DEVICE_RECORDS=late: when they come; 0 not, or they came. */
#define LATE	2
#define LATE_NS UINT64_C(500000000)

static uint64_t late_from_ns;

static uint64_t host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void life_dump(CUpti_ActivityKind kind)
{
	const CUpti_ActivityContext3 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.contextId = life_context_id(),
		.deviceId = life_device(),
		.computeApiKind = COMPUTE_API_CUDA,
		.nullStreamId = NULL_STREAM_ID,
		.numMultiprocessors = DEVICE_MULTIPROCESSORS,
	};

	if (kind == CUPTI_ACTIVITY_KIND_DEVICE && state == LIFE_READY &&
	    sim_knobs()->no_device_records == LATE)
		late_from_ns = host_ns() + LATE_NS;
	else if (kind == CUPTI_ACTIVITY_KIND_DEVICE && state == LIFE_READY &&
		 !sim_knobs()->no_device_records)
		dump_devices();
	else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT && life_context())
		activity_emit(&record);
}

void life_dump_late(void)
{
	uint64_t due = __atomic_load_n(&late_from_ns, __ATOMIC_RELAXED);

	if (due && host_ns() >= due &&
	    __atomic_compare_exchange_n(&late_from_ns, &due, 0, 0,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		dump_devices();
}
