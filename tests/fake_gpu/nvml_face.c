/* SPDX-License-Identifier: MIT */
/*
 * nvml_face.c - libnvidia-ml.so.1: one GPU that is warm, and is throttled where
 * SIMGPU_NVML_REASONS says so.  Its types are written out: CUDA's headers have
 * none of NVML.
 */
#include "tests/fake_gpu/sim_device.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_memory.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6 };
enum { WATTS = 412, MEGAHERTZ = 1980, THROTTLED_MEGAHERTZ = 1200, LOAD = 87 };
enum { SM = 1, MEMORY = 2, MEMORY_MEGAHERTZ = 3201 };

struct utilization {
	unsigned int gpu, memory;
};

struct memory {
	unsigned long long total, free, used;
};

static _Atomic int is_ready;
static int body;

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int error);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetUtilizationRates(void *device, struct utilization *rates);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *megahertz);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius);
int nvmlDeviceGetCurrentClocksEventReasons(void *device,
					   unsigned long long *reasons);

static int enter(const char *function, const void *device)
{
	const int failure = knobs_failure(function);

	if (failure)
		return failure;
	if (!is_ready)
		return UNINITIALIZED;
	return device == &body ? SUCCESS : INVALID_ARGUMENT;
}

static void hang_if_asked(int where)
{
	while (sim_knobs()->nvml_hang == where)
		pause();
}

int nvmlInit_v2(void)
{
	const int failure = knobs_failure("nvmlInit_v2");

	hang_if_asked(2);
	if (!failure)
		is_ready = 1;
	return failure;
}

int nvmlShutdown(void)
{
	is_ready = 0;
	return SUCCESS;
}

const char *nvmlErrorString(int error)
{
	return error ? "Simulated" : "Success";
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	CUpti_ActivityDevice5 record = {.kind = CUPTI_ACTIVITY_KIND_DEVICE};
	char own[48];
	size_t at;

	device_describe(&record, 0);
	at = (size_t)snprintf(own, sizeof(own), "GPU-");
	for (int i = 0; i < 16; i++)
		at += (size_t)snprintf(
			own + at, sizeof(own) - at, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			(unsigned char)record.uuid.bytes[i]);
	if (!is_ready)
		return UNINITIALIZED;
	if (strcmp(uuid, own) != 0)
		return NOT_FOUND;
	*device = &body;
	return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *rates)
{
	const int error = enter(__func__, device);

	hang_if_asked(1);
	if (!error)
		*rates = (struct utilization){LOAD, 30};
	return error;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
	const int error = enter(__func__, device);

	if (!error)
		*memory = (struct memory){DEVICE_MEMORY_BYTES,
					  DEVICE_MEMORY_BYTES - memory_in_use(),
					  memory_in_use()};
	return error;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts)
{
	const int error = enter(__func__, device);

	if (!error)
		*milliwatts = WATTS * 1000 + 500;
	return error;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *megahertz)
{
	const int error = enter(__func__, device);

	if (!error)
		*megahertz = type == MEMORY		 ? MEMORY_MEGAHERTZ
			     : type != SM		 ? 0
			     : sim_knobs()->nvml_reasons ? THROTTLED_MEGAHERTZ
							 : MEGAHERTZ;
	return error;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius)
{
	const int error = enter(__func__, device);

	if (!error)
		*celsius = sensor ? 0 : 71;
	return error;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device,
					   unsigned long long *reasons)
{
	const int error = enter(__func__, device);

	if (!error)
		*reasons = sim_knobs()->nvml_reasons;
	return error;
}
