/* SPDX-License-Identifier: MIT */
/*
 * fake_gpu_client.h - what tests of the simulated GPU share: its libraries
 * found by dlopen(), a child for each test, a client of CUPTI.
 *
 * Knobs are read once a process and the driver starts once, so each test runs
 * in a child with libraries of its own.
 */
#ifndef UNIT_FAKE_GPU_CLIENT_H
#define UNIT_FAKE_GPU_CLIENT_H

#include "tests/unit/cmocka_base.h"

#include <cupti.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER_SIZE = 16384, MOST_BUFFERS = 64 };

/* clang-format off */
#define FUNCTIONS(X)							\
	X(cupti, cuptiGetVersion) X(cupti, cuptiSubscribe)		\
	X(cupti, cuptiSubscribe_v2) X(cupti, cuptiUnsubscribe)		\
	X(cupti, cuptiEnableDomain) X(cupti, cuptiEnableCallback)	\
	X(cupti, cuptiActivityEnable) X(cupti, cuptiActivityDisable)	\
	X(cupti, cuptiActivityEnableAndDump)				\
	X(cupti, cuptiActivityEnableRuntimeApi)				\
	X(cupti, cuptiActivityRegisterCallbacks)			\
	X(cupti, cuptiActivityRegisterTimestampCallback)		\
	X(cupti, cuptiActivitySetAttribute)				\
	X(cupti, cuptiActivityGetNextRecord)				\
	X(cupti, cuptiActivityGetNumDroppedRecords)			\
	X(cupti, cuptiActivityFlushAll)					\
	X(cupti, cuptiActivityPushExternalCorrelationId)		\
	X(cupti, cuptiActivityPopExternalCorrelationId)			\
	X(cudart, cudaMalloc) X(cudart, cudaFree) X(cudart, cudaMemcpy)	\
	X(cudart, cudaMemset) X(cudart, cudaGetDevice)			\
	X(cudart, cudaStreamQuery) X(cudart, cudaGetLastError)		\
	X(cudart, cudaDeviceSynchronize) X(cudart, cudaStreamCreate)	\
	X(cudart, cudaStreamSynchronize) X(cudart, cudaMemcpyAsync)	\
	X(cudart, cudaMemcpy2D) X(cudart, cudaMemcpyPeer)		\
	X(cudart, cudaHostRegister) X(cudart, cudaHostUnregister)	\
	X(cudart, cudaMallocManaged) X(cudart, cudaMallocHost)		\
	X(cudart, cudaStreamBeginCapture) X(cudart, cudaStreamEndCapture) \
	X(cudart, cudaGraphInstantiate) X(cudart, cudaGraphLaunch)	\
	X(cudart, cudaGraphCreate) X(cudart, cudaGraphAddKernelNode)	\
	X(cudart, cudaEventCreate) X(cudart, cudaEventRecord)		\
	X(cudart, cudaStreamWaitEvent) X(cudart, cudaEventElapsedTime)	\
	X(cudart, cudaMemsetAsync) X(cudart, cudaLaunchKernel)		\
	X(cudart, cudaPointerGetAttributes) X(cudart, cudaEventQuery)	\
	X(cudart, cudaOccupancyMaxActiveBlocksPerMultiprocessor)	\
	X(cudart, cudaMemGetInfo) X(cudart, cudaLaunchHostFunc)
/* clang-format on */

static struct {
#define X(library, name) typeof(&name) name;
	FUNCTIONS(X)
#undef X
} gpu;

#define CHECK(condition) check(condition, #condition, __LINE__)

static void check(int condition, const char *text, int line)
{
	if (condition)
		return;
	fprintf(stderr, "line %d: %s\n", line, text);
	_exit(1);
}

static inline void *library(const char *name)
{
	char path[PATH_MAX], file[PATH_MAX + 64];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));

	CHECK(length > 0 && length < (ssize_t)sizeof(path));
	path[length] = 0;
	snprintf(file, sizeof(file), "%s/../../../fake-gpu/%s", dirname(path),
		 name);
	return dlopen(file, RTLD_NOW);
}

static void load(void)
{
	void *cupti = library("libcupti.so.13");
	void *cudart = library("libcudart.so.13");

	CHECK(cupti && cudart);
#define X(library, name)                                                       \
	*(void **)&gpu.name = dlsym(library, #name);                           \
	CHECK(gpu.name != NULL);
	FUNCTIONS(X)
#undef X
}

/* The child's status: 0, or the negative number of the signal that ended it.
 * `knobs` is "NAME=value", several separated by blanks. */
static int in_child(void (*test)(void), const char *knobs)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		char *copy = strdup(knobs), *rest = copy, *knob;

		alarm(20);
		while ((knob = strsep(&rest, " ")) != NULL)
			if (*knob)
				putenv(knob);
		load();
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void need_double(void)
{
	void *there = library("libcupti.so.13");

	if (!there)
		skip();
	dlclose(there);
}

/* --- a client ------------------------------------------------------------ */

static struct given {
	uint8_t *data;
	size_t valid;
} given[MOST_BUFFERS];
static int given_count, hand_out_twice, dirty;

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	static uint8_t same[BUFFER_SIZE] __attribute__((aligned(64)));

	*size = BUFFER_SIZE;
	*most = 0;
	*buffer = hand_out_twice ? same : aligned_alloc(64, BUFFER_SIZE);
	memset(*buffer, dirty, BUFFER_SIZE);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer,
		     size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size;
	given[given_count++] = (struct given){buffer, valid};
}

static void begin(const int *kinds, CUpti_SubscriberHandle *handle,
		  CUpti_CallbackFunc callback)
{
	CHECK(gpu.cuptiSubscribe(handle, callback, NULL) == 0);
	CHECK(gpu.cuptiActivityRegisterCallbacks(request, complete) == 0);
	for (; *kinds; kinds++)
		CHECK(gpu.cuptiActivityEnable((CUpti_ActivityKind)*kinds) == 0);
}

static inline const CUpti_Activity *nth(CUpti_ActivityKind kind, int n)
{
	for (int i = 0; i < given_count; i++) {
		CUpti_Activity *record = NULL;

		while (gpu.cuptiActivityGetNextRecord(
			       given[i].data, given[i].valid, &record) == 0)
			if (record->kind == kind && n-- == 0)
				return record;
	}
	return NULL;
}

/* The n-th copy by the order of the calls: of what was collected by several
 * threads, whose buffer comes first is chance. */
static inline const CUpti_ActivityMemcpy6 *nth_copy(int n)
{
	const CUpti_ActivityMemcpy6 *copy, *other;

	for (int i = 0;
	     (copy = (void *)nth(CUPTI_ACTIVITY_KIND_MEMCPY, i)) != NULL; i++) {
		int earlier = 0;

		for (int j = 0;
		     (other = (void *)nth(CUPTI_ACTIVITY_KIND_MEMCPY, j)); j++)
			earlier += other->correlationId < copy->correlationId;
		if (earlier == n)
			return copy;
	}
	return NULL;
}

static void never(void *unused, CUpti_CallbackDomain domain,
		  CUpti_CallbackId cbid, const void *data)
{
	(void)unused, (void)domain, (void)cbid, (void)data;
	CHECK(!"called");
}

/* Each line of TESTS(X) is a function, the knobs that it runs with, and how its
 * child ends. */
#define TEST_OF(name, knobs, status)                                           \
	static void test_##name(void **state)                                  \
	{                                                                      \
		(void)state;                                                   \
		need_double();                                                 \
		assert_int_equal(in_child(name, knobs), status);               \
	}
#define ENTRY_OF(name, knobs, status) cmocka_unit_test(test_##name),

#endif
