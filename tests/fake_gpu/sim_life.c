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
#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_knobs.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NULL_STREAM_ID = 7, COMPUTE_API_CUDA = 1 };

static _Atomic int state;
static _Atomic pid_t owner;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int (*_Atomic runtime_start)(void);
static _Atomic(CUcontext) context;

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

CUcontext life_context(void)
{
	return context;
}

CUcontext life_need_context(void)
{
	static int body;

	if (context)
		return context;
	pthread_mutex_lock(&lock);
	if (!context) {
		context = (CUcontext)&body;
		if (sim_knobs()->init_silent)
			atexit(tear_down);
		life_dump(CUPTI_ACTIVITY_KIND_CONTEXT);
		callbacks_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context,
				   NULL);
	}
	pthread_mutex_unlock(&lock);
	return context;
}

int life_driver_alive(void)
{
	return state != LIFE_DEAD && !sim_knobs()->driver_absent;
}

static void dump_device(void)
{
	CUpti_ActivityDevice5 record = {.kind = CUPTI_ACTIVITY_KIND_DEVICE};

	device_describe(&record);
	activity_emit(&record);
}

void life_dump(CUpti_ActivityKind kind)
{
	const CUpti_ActivityContext3 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.contextId = CONTEXT_ID,
		.deviceId = DEVICE_ID,
		.computeApiKind = COMPUTE_API_CUDA,
		.nullStreamId = NULL_STREAM_ID,
		.numMultiprocessors = DEVICE_MULTIPROCESSORS,
	};

	if (kind == CUPTI_ACTIVITY_KIND_DEVICE && state == LIFE_READY)
		dump_device();
	else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT && context)
		activity_emit(&record);
}
