/* SPDX-License-Identifier: MIT */
/*
 * library_turns.c - two threads, each on a device of its own, by CUDA's driver
 * API alone: kernels of libraries that are loaded and unloaded again while they
 * run, as compilers of kernels do it, in contexts that come and go.
 *
 *	library_turns [STEPS [THREADS [DEVICES]]]
 *
 * Each step has a library of its own, and its kernels that step's number as
 * their name's end.
 */
#include "driver_client.h"
#include "turns.h"

#include <string.h>

/*        name                      parameters */
#define LIBRARY_FUNCTIONS(X)                                                   \
	X(cuLibraryLoadData, (void **, const void *, void *, void *,           \
			      unsigned int, void *, void *, unsigned int))     \
	X(cuLibraryUnload, (void *))                                           \
	X(cuLibraryGetKernel, (void **, void *, const char *))                 \
	X(cuKernelGetFunction, (void **, void *))                              \
	X(cuCtxCreate_v2, (void **, unsigned int, int))                        \
	X(cuCtxDestroy_v2, (void *))                                           \
	X(cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *))

enum { KERNELS, COPIES, SETS };
enum { BYTES = 4096, LAUNCHES = 3 };

static struct {
#define X(name, parameters) int(*name) parameters;
	LIBRARY_FUNCTIONS(X)
#undef X
} library;
static int devices = 2;
static void *contexts[THREADS_MOST];

#define DRIVER(name, ...)  driver_check(driver.name(__VA_ARGS__), #name)
#define LIBRARY(name, ...) driver_check(library.name(__VA_ARGS__), #name)

/* PTX with a kernel of that name. */
static const char *code_of(const char *name, char *text, size_t bytes)
{
	snprintf(text, bytes,
		 ".version 7.0\n.target sm_75\n.address_size 64\n"
		 ".visible .entry %s(.param .u64 data)\n{\n\tret;\n}\n",
		 name);
	return text;
}

static void library_find(void)
{
	void *found = dlopen("libcuda.so.1", RTLD_NOW);

#define X(name, parameters)                                                    \
	*(void **)(void *)&library.name = found ? dlsym(found, #name) : NULL;  \
	if (!library.name)                                                     \
		exit(NO_DRIVER);
	LIBRARY_FUNCTIONS(X)
#undef X
}

/* By the kernel itself, or by what stands for it here. */
static void launch_kernel(void *kernel, void *stream, uint64_t memory, int way)
{
	const struct driver_launch how = {{1, 1, 1}, {32, 1, 1}, 0,
					  stream,    NULL,	 0};
	void *arguments[] = {&memory}, *function = kernel;

	if (way % 2)
		LIBRARY(cuKernelGetFunction, &function, kernel);
	if (way == 2)
		DRIVER(cuLaunchKernelEx, &how, function, arguments, NULL);
	else
		DRIVER(cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, stream,
		       arguments, NULL);
}

static void in_context(int thread, int step)
{
	static const char sent[BYTES];
	void *loaded, *turn, *stream;
	uint64_t memory;
	char name[32], text[256];

	snprintf(name, sizeof(name), "turn_%d_%d", thread, step);
	LIBRARY(cuLibraryLoadData, &loaded, code_of(name, text, sizeof(text)),
		NULL, NULL, 0, NULL, NULL, 0);
	LIBRARY(cuLibraryGetKernel, &turn, loaded, name);
	DRIVER(cuStreamCreate, &stream, 1);
	DRIVER(cuMemAlloc_v2, &memory, BYTES);
	DRIVER(cuMemcpyHtoDAsync_v2, memory, sent, BYTES, stream);
	LIBRARY(cuMemsetD8Async, memory, 0, BYTES, stream);
	for (int i = 0; i < LAUNCHES; i++)
		launch_kernel(turn, stream, memory, i);
	done[step][KERNELS] += LAUNCHES;
	done[step][COPIES]++;
	done[step][SETS]++;
	DRIVER(cuStreamDestroy_v2, stream);
	DRIVER(cuMemFree_v2, memory);
	/* While they run, if the driver lets them. */
	LIBRARY(cuLibraryUnload, loaded);
}

static void work(int thread, int step)
{
	/* In the next step another one is current. */
	if (step % 3 == 0)
		LIBRARY(cuCtxCreate_v2, &contexts[thread], 0, thread % devices);
	in_context(thread, step);
	if (step % 3 == 2) {
		LIBRARY(cuCtxDestroy_v2, contexts[thread]);
		contexts[thread] = NULL;
	}
}

int main(int argc, char **argv)
{
	static const char *const sorts[] = {"kernel", "gpu_memcpy",
					    "gpu_memset"};
	const int steps = argc > 1 ? atoi(argv[1]) : 12;
	const int threads = argc > 2 ? atoi(argv[2]) : 2;

	devices = argc > 3 ? atoi(argv[3]) : devices;
	library_find();
	if (!driver_find())
		return NO_DRIVER;
	turns_run(steps, threads, work, NULL);
	turns_tell(sorts, 3);
	return 0;
}
