/* SPDX-License-Identifier: MIT */
/*
 * runtime_calls.c - calls functions of the CUDA runtime once each, and prints
 * what they returned.
 *
 * The runtime is loaded by name and each function looked up as a program finds
 * it that is linked to it, so that whoever stands in front is called.  Exit
 * status 77 where there is no runtime.
 */
#include <dlfcn.h>
#include <stdio.h>

enum { BYTES = 4096, TO_DEVICE = 1 };

struct size3 {
	unsigned int x, y, z;
};

static char sent[BYTES];

static void *runtime;

/* A function's address, from the first library that has it; NULL: this runtime
 * has no such function. */
static void *find(const char *name)
{
	return dlsym(runtime, name) ? dlsym(RTLD_DEFAULT, name) : NULL;
}

/* Pointers and numbers are passed alike, and those too many are ignored. */
static void call(const char *name, const void *a, const void *b, size_t c,
		 size_t d, void *e)
{
	int (*function)(const void *, const void *, size_t, size_t, void *);

	*(void **)&function = find(name);
	if (function)
		printf("%s %d\n", name, function(a, b, c, d, e));
}

static void *number(size_t value)
{
	return (void *)value;
}

/* Of a kernel that nobody registered: refused, but called. */
static void launch(const char *name)
{
	const struct size3 one = {1, 1, 1};
	int (*function)(const void *, struct size3, struct size3, void **,
			size_t, void *);

	*(void **)&function = find(name);
	if (function)
		printf("%s %d\n", name,
		       function((const void *)launch, one, one, NULL, 0, NULL));
}

static void copy_and_fill(void *device, void *stream)
{
	call("cudaMemcpy", device, sent, 64, TO_DEVICE, NULL);
	call("cudaMemcpy_ptds", device, sent, 64, TO_DEVICE, NULL);
	call("cudaMemcpyAsync", device, sent, 64, TO_DEVICE, stream);
	call("cudaMemcpyAsync_ptsz", device, sent, 64, TO_DEVICE, stream);
	call("cudaMemset", device, number(1), 64, 0, NULL);
	call("cudaMemsetAsync", device, number(1), 64, (size_t)stream, NULL);
	call("cudaMemsetAsync_ptsz", device, number(1), 64, (size_t)stream,
	     NULL);
}

static void launch_all(void)
{
	static const char config[256];

	launch("cudaLaunchKernel");
	launch("cudaLaunchKernel_ptsz");
	launch("__cudaLaunchKernel");
	launch("__cudaLaunchKernel_ptsz");
	launch("cudaLaunchCooperativeKernel");
	call("cudaLaunchKernelExC", config, (const void *)launch, 0, 0, NULL);
	call("cudaLaunchKernelExC_ptsz", config, (const void *)launch, 0, 0,
	     NULL);
	call("cudaGraphLaunch", NULL, NULL, 0, 0, NULL);
	call("cudaGraphLaunch_ptsz", NULL, NULL, 0, 0, NULL);
}

static void wait_all(void *stream, void *event)
{
	call("cudaEventRecord", event, stream, 0, 0, NULL);
	call("cudaEventRecord_ptsz", event, stream, 0, 0, NULL);
	call("cudaEventSynchronize", event, NULL, 0, 0, NULL);
	call("cudaStreamWaitEvent", stream, event, 0, 0, NULL);
	call("cudaStreamSynchronize", stream, NULL, 0, 0, NULL);
	call("cudaStreamSynchronize_ptsz", stream, NULL, 0, 0, NULL);
	call("cudaDeviceSynchronize", NULL, NULL, 0, 0, NULL);
}

int main(void)
{
	void *stream, *other, *event, *device, *pinned, *host, *managed, *pool;

	runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
	if (!runtime)
		return 77;
	/* The first one initialises CUDA. */
	call("cudaEventCreate", &event, NULL, 0, 0, NULL);
	call("cudaStreamCreate", &stream, NULL, 0, 0, NULL);
	call("cudaStreamCreateWithFlags", &other, number(1), 0, 0, NULL);
	call("cudaMalloc", &device, number(BYTES), 0, 0, NULL);
	call("cudaMallocHost", &pinned, number(BYTES), 0, 0, NULL);
	call("cudaHostAlloc", &host, number(BYTES), 0, 0, NULL);
	call("cudaMallocManaged", &managed, number(BYTES), 1, 0, NULL);
	call("cudaMallocAsync", &pool, number(BYTES), (size_t)stream, 0, NULL);
	copy_and_fill(device, stream);
	launch_all();
	wait_all(stream, event);
	call("cudaFreeAsync", pool, stream, 0, 0, NULL);
	call("cudaFreeHost", pinned, NULL, 0, 0, NULL);
	call("cudaFree", managed, NULL, 0, 0, NULL);
	call("cudaFree", device, NULL, 0, 0, NULL);
	call("cudaStreamDestroy", other, NULL, 0, 0, NULL);
	return 0;
}
