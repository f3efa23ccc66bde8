/* SPDX-License-Identifier: MIT */
/*
 * closed_driver.c - two of CUDA's calls, from functions that jump to where a
 * table says: nobody who reads them knows how often they call.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

static void *find(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	return driver ? dlsym(driver, name) : NULL;
}

/* Finds the next function of that name the first time, and calls it. */
#define CALL_NEXT(name, next, arguments)                                       \
	do {                                                                   \
		void *const to[] = {&&look, &&call, &&end};                    \
		volatile unsigned int at = (next) ? 1 : 0;                     \
		int error = 0;                                                 \
                                                                               \
		goto *to[at++];                                                \
	look:                                                                  \
		*(void **)&(next) = find(name);                                \
		goto *to[at++];                                                \
	call:                                                                  \
		error = (next)arguments;                                       \
		goto *to[at + !(next)];                                        \
	end:                                                                   \
		return error;                                                  \
	} while (0)

int cuLaunchKernel(void *kernel, unsigned int x, unsigned int y, unsigned int z,
		   unsigned int threads, unsigned int y_threads,
		   unsigned int z_threads, unsigned int shared, void *stream,
		   void **arguments, void **extra)
{
	static int (*next)(void *, unsigned int, unsigned int, unsigned int,
			   unsigned int, unsigned int, unsigned int,
			   unsigned int, void *, void **, void **);

	CALL_NEXT("cuLaunchKernel", next,
		  (kernel, x, y, z, threads, y_threads, z_threads, shared,
		   stream, arguments, extra));
}

int cuMemcpyDtoH_v2(void *host, uint64_t device, size_t bytes)
{
	static int (*next)(void *, uint64_t, size_t);

	CALL_NEXT("cuMemcpyDtoH_v2", next, (host, device, bytes));
}
