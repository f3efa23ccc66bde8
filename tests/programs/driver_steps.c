/* SPDX-License-Identifier: MIT */
/*
 * driver_steps.c - steps of launches by CUDA's driver API alone, no call of
 * the runtime's around them.
 *
 *	driver_steps STEPS LAUNCHES END_MS
 *
 * The last step launches nothing, and goes on for END_MS.
 *
 * It needs no header of CUDA's.  Exit status 77 where there is no driver.
 */
#include "driver_client.h"
#include "traceprof.h"

#include <unistd.h>

static const char module_text[] = ".version 7.0\n"
				  ".target sm_50\n"
				  ".address_size 64\n"
				  ".visible .entry stepped(.param .u64 data)\n"
				  "{\n"
				  "	ret;\n"
				  "}\n";

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 3;
	const int launches = argc > 2 ? atoi(argv[2]) : 1;
	const int end_ms = argc > 3 ? atoi(argv[3]) : 0;
	void *module, *kernel, *stream;
	uint64_t memory;
	void *arguments[] = {&memory};

	if (!driver_find())
		return NO_DRIVER;
	module = driver_load(module_text);
	driver_check(driver.cuModuleGetFunction(&kernel, module, "stepped"),
		     "cuModuleGetFunction");
	driver_check(driver.cuMemAlloc_v2(&memory, 64), "cuMemAlloc");
	driver_check(driver.cuStreamCreate(&stream, 1), "cuStreamCreate");
	for (int i = 1; i <= steps; i++) {
		traceprof_step();
		for (int j = 0; j < launches && i < steps; j++)
			driver_check(driver.cuLaunchKernel(kernel, 1, 1, 1, 1,
							   1, 1, 0, stream,
							   arguments, NULL),
				     "cuLaunchKernel");
	}
	usleep((unsigned int)end_ms * 1000);
	return 0;
}
