/* SPDX-License-Identifier: MIT */
/*
 * pinned.c - pins the host's memory in each way that CUDA has, through the
 * runtime and the driver, and frees all of it.  Exit status 77 where there is
 * no CUDA.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20 };

static void *runtime, *driver;

/* Pointers and numbers are passed alike, and those too many are ignored. */
static int call(void *library, const char *name, void *to, size_t bytes)
{
	int (*function)(void *, size_t, size_t, size_t) = NULL;

	*(void **)&function = dlsym(library, name);
	return function ? function(to, bytes, 0, 0) : -1;
}

static void must(void *library, const char *name, void *to, size_t bytes)
{
	const int error = call(library, name, to, bytes);

	if (!error)
		return;
	fprintf(stderr, "pinned: %s: %d\n", name, error);
	exit(1);
}

int main(void)
{
	void *own = aligned_alloc(4096, 2 * BLOCK), *block[4], *device = NULL;

	runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!runtime || !driver)
		return 77;
	must(runtime, "cudaMalloc", &device, BLOCK);
	must(runtime, "cudaMallocHost", &block[0], 1 * BLOCK);
	must(runtime, "cudaHostAlloc", &block[1], 2 * BLOCK);
	must(driver, "cuMemAllocHost_v2", &block[2], 3 * BLOCK);
	must(driver, "cuMemHostAlloc", &block[3], 4 * BLOCK);
	must(runtime, "cudaHostRegister", own, 2 * BLOCK);
	must(runtime, "cudaHostUnregister", own, 0);
	must(driver, "cuMemHostRegister_v2", own, BLOCK);
	/* It fails, and is no free: the one after it is another's. */
	if (call(runtime, "cudaHostUnregister", block[1], 0) == 0)
		puts("unpinned what is not the program's");
	must(runtime, "cudaFreeHost", block[0], 0);
	must(runtime, "cudaFreeHost", block[1], 0);
	must(driver, "cuMemFreeHost", block[2], 0);
	must(driver, "cuMemFreeHost", block[3], 0);
	must(driver, "cuMemHostUnregister", own, 0);
	must(runtime, "cudaFree", device, 0);
	free(own);
	puts("done");
	return 0;
}
