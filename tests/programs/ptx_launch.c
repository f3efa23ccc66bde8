/* SPDX-License-Identifier: MIT */
/*
 * ptx_launch.c - a program that knows CUDA's driver API alone, as compilers of
 * kernels use it: libcuda.so.1 by dlopen(), a module from PTX text, copies,
 * cuLaunchKernel.
 *
 *	ptx_launch [launches [KERNEL]]
 *
 * A kernel of that name is launched by cuLaunchKernelEx, as Triton's are.
 *
 * It needs no header of CUDA's.  Exit status 77 where there is no driver.
 */
#include "driver_client.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096, BLOCK = 128 };

static const char module_text[] =
	".version 7.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry ptx_kernel(.param .u64 data)\n"
	"{\n"
	"	ret;\n"
	"}\n";

static void launch(void *kernel, void *stream, void **arguments,
		   int is_extended)
{
	const struct driver_launch how = {
		{COUNT / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0, stream, NULL, 0};

	if (is_extended)
		driver_check(
			driver.cuLaunchKernelEx(&how, kernel, arguments, NULL),
			"cuLaunchKernelEx");
	else
		driver_check(driver.cuLaunchKernel(kernel, COUNT / BLOCK, 1, 1,
						   BLOCK, 1, 1, 0, stream,
						   arguments, NULL),
			     "cuLaunchKernel");
}

int main(int argc, char **argv)
{
	static uint32_t sent[COUNT], back[COUNT];
	const int launches = argc > 1 ? atoi(argv[1]) : 3;
	void *module, *kernel, *stream;
	uint64_t memory;

	if (!driver_find()) {
		printf("no driver\n");
		return NO_DRIVER;
	}
	module = driver_load(module_text);
	driver_check(
		driver.cuModuleGetFunction(&kernel, module,
					   argc > 2 ? argv[2] : "ptx_kernel"),
		"cuModuleGetFunction");
	driver_check(driver.cuMemAlloc_v2(&memory, sizeof(sent)), "cuMemAlloc");
	driver_check(driver.cuStreamCreate(&stream, 1), "cuStreamCreate");
	for (uint32_t i = 0; i < COUNT; i++)
		sent[i] = i * 2654435761u;
	driver_check(
		driver.cuMemcpyHtoDAsync_v2(memory, sent, sizeof(sent), stream),
		"cuMemcpyHtoDAsync");
	for (int i = 0; i < launches; i++) {
		void *arguments[] = {&memory};

		launch(kernel, stream, arguments, argc > 2);
	}
	driver_check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
	driver_check(driver.cuMemcpyDtoH_v2(back, memory, sizeof(back)),
		     "cuMemcpyDtoH");
	driver_check(driver.cuStreamDestroy_v2(stream), "cuStreamDestroy");
	driver_check(driver.cuMemFree_v2(memory), "cuMemFree");
	printf("%d launches, copies %s\n", launches,
	       memcmp(sent, back, sizeof(sent)) ? "differ" : "agree");
	return memcmp(sent, back, sizeof(sent)) != 0;
}
