/* SPDX-License-Identifier: MIT */
/*
 * xla_like.c - a program with a profiler of its own that shares CUPTI, as JAX's
 * does from 13.3 on.
 *
 *	xla_like first|after
 *
 * It finds CUPTI by dlopen(), subscribes with the wish that others may too, and
 * calls with its handle alone.  "first": before anything of CUDA's is called.
 * Kernels are named by what is going on: "before", "profiled" and "after".
 */
#include "driver_client.h"

#include <stddef.h>
#include <string.h>

enum { LAUNCHES = 20, BUFFER = 1 << 20, KERNEL = 10, NAME_AT = 104 };

static const char module_text[] =
	".version 7.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry before(.param .u64 data) { ret; }\n"
	".visible .entry profiled(.param .u64 data) { ret; }\n"
	".visible .entry after(.param .u64 data) { ret; }\n";

struct parameters {
	size_t bytes;
	const char *name;
	char *holder;
	size_t holder_bytes;
	uint8_t allows_others;
	uint8_t pad[7];
};

static struct {
	int (*subscribe)(void **, void (*)(void), void *, struct parameters *);
	int (*unsubscribe)(void *);
	int (*callbacks)(void *,
			 void (*)(uint8_t **, size_t *, size_t *, void *),
			 void (*)(uint8_t *, size_t, size_t, void *));
	int (*enable)(void *, int, void *);
	int (*disable)(void *, int, void *);
	int (*flush)(uint32_t);
	int (*next)(void *, uint8_t *, size_t, uint8_t **);
} cupti;

static void *subscriber;
static size_t kernels, other_names;

static void called(void)
{
}

static void lend(uint8_t **buffer, size_t *size, size_t *most, void *info)
{
	(void)info;
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*most = 0;
}

static void take(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	uint8_t *record = NULL;

	(void)size, (void)info;
	while (!cupti.next(subscriber, buffer, valid, &record)) {
		const char *name;
		uint32_t kind;

		memcpy(&kind, record, sizeof(kind));
		if (kind != KERNEL)
			continue;
		memcpy(&name, record + NAME_AT, sizeof(name));
		kernels++;
		other_names += strcmp(name, "profiled") != 0;
	}
	free(buffer);
}

static void find(const char *name, void *place)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW);

	*(void **)place = library ? dlsym(library, name) : NULL;
	if (!*(void **)place)
		exit(77);
}

static void come(void)
{
	struct parameters parameters = {
		.bytes = sizeof(parameters),
		.name = "XLA",
		.allows_others = 1,
	};

	find("cuptiSubscribe_v2", &cupti.subscribe);
	find("cuptiUnsubscribe", &cupti.unsubscribe);
	find("cuptiActivityRegisterCallbacks_v2", &cupti.callbacks);
	find("cuptiActivityEnable_v2", &cupti.enable);
	find("cuptiActivityDisable_v2", &cupti.disable);
	find("cuptiActivityFlushAll", &cupti.flush);
	find("cuptiActivityGetNextRecord_v2", &cupti.next);
	if (cupti.subscribe(&subscriber, called, NULL, &parameters)) {
		printf("refused\n");
		subscriber = NULL;
		return;
	}
	driver_check(cupti.callbacks(subscriber, lend, take), "its buffers");
	driver_check(cupti.enable(subscriber, KERNEL, NULL), "its kinds");
}

static void go(void)
{
	if (!subscriber)
		return;
	driver_check(cupti.disable(subscriber, KERNEL, NULL), "disable");
	driver_check(cupti.flush(0), "flush");
	driver_check(cupti.unsubscribe(subscriber), "unsubscribe");
}

static void *module;

static void launch(const char *name)
{
	uint64_t memory = 0;
	void *arguments[] = {&memory}, *kernel;

	driver_check(driver.cuModuleGetFunction(&kernel, module, name), name);
	for (int i = 0; i < LAUNCHES; i++)
		driver_check(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0,
						   NULL, arguments, NULL),
			     "cuLaunchKernel");
	driver_check(driver.cuStreamSynchronize(NULL), "cuStreamSynchronize");
}

int main(int argc, char **argv)
{
	const int is_first = argc > 1 && !strcmp(argv[1], "first");

	if (is_first)
		come();
	if (!driver_find())
		return NO_DRIVER;
	module = driver_load(module_text);
	if (!is_first) {
		launch("before");
		come();
	}
	launch("profiled");
	go();
	launch("after");
	printf("profiled %zu kernels, %zu of another name\n", kernels,
	       other_names);
	return 0;
}
