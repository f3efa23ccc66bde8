/* SPDX-License-Identifier: MIT */
/*
 * cuda_start.c - a library that starts CUDA and launches forty kernels, a step
 * each, in its constructor: inside of dlopen(), under the loader's lock.
 */
#include "../driver_client.h"
#include "traceprof.h"

#include <unistd.h>

enum { STEPS = 40, PAUSE_US = 5000 };

static const char text[] = ".version 7.0\n"
			   ".target sm_50\n"
			   ".address_size 64\n"
			   ".visible .entry one(.param .u64 data) { ret; }\n";
static int launched;

__attribute__((constructor)) static void start(void)
{
	uint64_t memory = 0;
	void *arguments[] = {&memory}, *kernel;

	if (!driver_find())
		return;
	driver_check(
		driver.cuModuleGetFunction(&kernel, driver_load(text), "one"),
		"one");
	for (; launched < STEPS; launched++) {
		traceprof_step();
		driver_check(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0,
						   NULL, arguments, NULL),
			     "cuLaunchKernel");
		usleep(PAUSE_US);
	}
	driver_check(driver.cuStreamSynchronize(NULL), "cuStreamSynchronize");
}

int plugin_run(int threads)
{
	(void)threads;
	return launched;
}
