/* SPDX-License-Identifier: MIT */
/*
 * driver_client.h - CUDA's driver API by dlopen(), for programs that know it
 * alone, as compilers of kernels use it: no header of CUDA's is needed.
 */
#ifndef DRIVER_CLIENT_H
#define DRIVER_CLIENT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO_DRIVER = 77 };

/* CUlaunchConfig. */
struct driver_launch {
	unsigned int grid[3], block[3], shared;
	void *stream, *attributes;
	unsigned int attribute_count;
};

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
	X(cuStreamDestroy_v2, (void *))                                        \
	X(cuStreamSynchronize, (void *))                                       \
	X(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))      \
	X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                         \
	X(cuLaunchKernel, (void *, unsigned int, unsigned int, unsigned int,   \
			   unsigned int, unsigned int, unsigned int,           \
			   unsigned int, void *, void **, void **))            \
	X(cuLaunchKernelEx,                                                    \
	  (const struct driver_launch *, void *, void **, void **))

static struct {
#define X(name, parameters) int(*name) parameters;
	DRIVER_FUNCTIONS(X)
#undef X
} driver;

static inline void driver_check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: error %d\n", what, error);
	exit(1);
}

/* False: there is no driver. */
static inline int driver_find(void)
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

/* The first device's primary context, for this thread; a module from text. */
static inline void *driver_load(const char *text)
{
	void *context, *module;
	int device;

	driver_check(driver.cuDeviceGet(&device, 0), "cuDeviceGet");
	driver_check(driver.cuDevicePrimaryCtxRetain(&context, device),
		     "cuDevicePrimaryCtxRetain");
	driver_check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
	driver_check(driver.cuModuleLoadData(&module, text),
		     "cuModuleLoadData");
	return module;
}

/* A kernel that does nothing, for a module's text. */
#define DRIVER_ENTRY(name)                                                     \
	".visible .entry " name "(.param .u64 data)\n{\n\tret;\n}\n"

static inline void driver_kernels(void *module, const char *const *names,
				  int count, void **kernels)
{
	for (int i = 0; i < count; i++)
		driver_check(driver.cuModuleGetFunction(&kernels[i], module,
							names[i]),
			     "cuModuleGetFunction");
}

static inline void driver_launch_one(void *kernel, void *stream,
				     uint64_t memory)
{
	void *arguments[] = {&memory};

	driver_check(driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream,
					   arguments, NULL),
		     "cuLaunchKernel");
}

#endif
