/* SPDX-License-Identifier: MIT */
/*
 * kineto_cancelled.c - a thread is cancelled inside of CUPTI, where it turns on
 * a kind of record.
 *
 * Twenty kernels before, two hundred in four seconds after.  Exit status 77
 * without CUPTI.
 */
#include "driver_client.h"

#include <pthread.h>
#include <unistd.h>

enum { KERNEL = 10, BEFORE = 20, AFTER = 200, PAUSE_US = 20000 };

static const char text[] = ".version 7.0\n"
			   ".target sm_50\n"
			   ".address_size 64\n"
			   ".visible .entry before(.param .u64 data) { ret; }\n"
			   ".visible .entry after(.param .u64 data) { ret; }\n";

static int (*enable)(int);
static int (*disable)(int);

/* At the first point of cancellation that it comes to. */
static void *be_cancelled(void *unused)
{
	pthread_cancel(pthread_self());
	enable(KERNEL);
	return unused;
}

static void launch(void *module, const char *name)
{
	uint64_t memory = 0;
	void *arguments[] = {&memory}, *kernel;

	driver_check(driver.cuModuleGetFunction(&kernel, module, name), name);
	driver_check(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL,
					   arguments, NULL),
		     "cuLaunchKernel");
	driver_check(driver.cuStreamSynchronize(NULL), "cuStreamSynchronize");
}

int main(void)
{
	pthread_t thread;
	void *result, *module;

	if (!dlopen("libcupti.so.13", RTLD_NOW | RTLD_GLOBAL) || !driver_find())
		return NO_DRIVER;
	*(void **)&enable = dlsym(RTLD_DEFAULT, "cuptiActivityEnable");
	*(void **)&disable = dlsym(RTLD_DEFAULT, "cuptiActivityDisable");
	module = driver_load(text);
	for (int i = 0; i < BEFORE; i++)
		launch(module, "before");
	pthread_create(&thread, NULL, be_cancelled, NULL);
	pthread_join(thread, &result);
	disable(KERNEL);
	for (int i = 0; i < AFTER; i++) {
		usleep(PAUSE_US);
		launch(module, "after");
	}
	puts(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	return 0;
}
