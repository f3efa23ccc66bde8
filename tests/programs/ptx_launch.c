/* SPDX-License-Identifier: MIT */
/*
 * ptx_launch.c - a program that knows CUDA's driver API alone, as compilers of
 * kernels use it: libcuda.so.1 by dlopen(), a module from PTX text, copies,
 * cuLaunchKernel.
 *
 *	ptx_launch [launches]
 *
 * It needs no header of CUDA's.  Exit status 77 where there is no driver.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096, BLOCK = 128, NO_DRIVER = 77 };

static const char module_text[] =
	".version 7.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry ptx_kernel(.param .u64 data)\n"
	"{\n"
	"	ret;\n"
	"}\n";

/*        name                      parameters */
#define DRIVER_FUNCTIONS(X)                                                    \
	X(cuInit, (unsigned int))                                              \
	X(cuDeviceGet, (int *, int))                                           \
	X(cuDevicePrimaryCtxRetain, (void **, int))                            \
	X(cuCtxSetCurrent, (void *))                                           \
	X(cuModuleLoadData, (void **, const void *))                           \
	X(cuModuleGetFunction, (void **, void *, const char *))                \
	X(cuMemAlloc_v2, (uint64_t *, size_t))                                 \
	X(cuMemFree_v2, (uint64_t))                                            \
	X(cuStreamCreate, (void **, unsigned int))                             \
	X(cuStreamSynchronize, (void *))                                       \
	X(cuStreamDestroy_v2, (void *))                                        \
	X(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))      \
	X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                         \
	X(cuLaunchKernel, (void *, unsigned int, unsigned int, unsigned int,   \
			   unsigned int, unsigned int, unsigned int,           \
			   unsigned int, void *, void **, void **))

static struct {
#define X(name, parameters) int(*name) parameters;
	DRIVER_FUNCTIONS(X)
#undef X
} driver;

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "ptx_launch: %s: error %d\n", what, error);
	exit(1);
}

static int find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int missing = !library;

#define X(name, parameters)                                                    \
	if (!missing)                                                          \
		*(void **)&driver.name = dlsym(library, #name);                \
	missing |= !driver.name;
	DRIVER_FUNCTIONS(X)
#undef X
	return !missing && driver.cuInit(0) == 0;
}

int main(int argc, char **argv)
{
	static uint32_t sent[COUNT], back[COUNT];
	const int launches = argc > 1 ? atoi(argv[1]) : 3;
	void *context, *module, *kernel, *stream;
	uint64_t memory;
	int device;

	if (!find_driver()) {
		printf("no driver\n");
		return NO_DRIVER;
	}
	check(driver.cuDeviceGet(&device, 0), "cuDeviceGet");
	check(driver.cuDevicePrimaryCtxRetain(&context, device),
	      "cuDevicePrimaryCtxRetain");
	check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
	check(driver.cuModuleLoadData(&module, module_text),
	      "cuModuleLoadData");
	check(driver.cuModuleGetFunction(&kernel, module, "ptx_kernel"),
	      "cuModuleGetFunction");
	check(driver.cuMemAlloc_v2(&memory, sizeof(sent)), "cuMemAlloc");
	check(driver.cuStreamCreate(&stream, 1), "cuStreamCreate");
	for (uint32_t i = 0; i < COUNT; i++)
		sent[i] = i * 2654435761u;
	check(driver.cuMemcpyHtoDAsync_v2(memory, sent, sizeof(sent), stream),
	      "cuMemcpyHtoDAsync");
	for (int i = 0; i < launches; i++) {
		void *arguments[] = {&memory};

		check(driver.cuLaunchKernel(kernel, COUNT / BLOCK, 1, 1, BLOCK,
					    1, 1, 0, stream, arguments, NULL),
		      "cuLaunchKernel");
	}
	check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
	check(driver.cuMemcpyDtoH_v2(back, memory, sizeof(back)),
	      "cuMemcpyDtoH");
	check(driver.cuStreamDestroy_v2(stream), "cuStreamDestroy");
	check(driver.cuMemFree_v2(memory), "cuMemFree");
	printf("%d launches, copies %s\n", launches,
	       memcmp(sent, back, sizeof(sent)) ? "differ" : "agree");
	return memcmp(sent, back, sizeof(sent)) != 0;
}
