/* SPDX-License-Identifier: MIT */
/*
 * test_fake_gpu_runtime.c - the simulated GPU's runtime: what copies move, what
 * is pinned, what a graph holds, how time passes in streams.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "tests/unit/fake_gpu_client.h"

enum { SIZE = 4096 };

/* Registered by hand, as nvcc's code does it. */
static void kernel(void)
{
}

static void register_kernel(void)
{
	void *cudart = library("libcudart.so.13");
	void **(*module)(void *);
	void (*function)(void **, const void *, void *, const char *, int,
			 void *, void *, void *, void *, void *);

	*(void **)&module = dlsym(cudart, "__cudaRegisterFatBinary");
	*(void **)&function = dlsym(cudart, "__cudaRegisterFunction");
	CHECK(module && function);
	function(module(NULL), (const void *)kernel, NULL, "_Z6kernelv", -1,
		 NULL, NULL, NULL, NULL, NULL);
}

static void rows(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, 0};
	char from[4][8] = {"aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd"};
	char back[4][8] = {""};
	CUpti_SubscriberHandle handle;
	const CUpti_ActivityMemcpy6 *copy;
	void *memory;

	begin(kinds, &handle, never);
	CHECK(gpu.cudaMalloc(&memory, SIZE) == 0);
	CHECK(gpu.cudaMemcpy2D(memory, 64, from, 8, 4, 4,
			       cudaMemcpyHostToDevice) == 0);
	CHECK(gpu.cudaMemcpy2D(back, 8, memory, 64, 4, 3,
			       cudaMemcpyDeviceToHost) == 0);
	CHECK(strcmp(back[0], "aaaa") == 0 && strcmp(back[2], "cccc") == 0);
	CHECK(back[3][0] == 0);
	CHECK(gpu.cudaMemcpy2D(back, 2, memory, 64, 4, 3,
			       cudaMemcpyDeviceToHost) ==
	      cudaErrorInvalidValue);
	CHECK(gpu.cudaGetLastError() == cudaErrorInvalidValue);
	CHECK(gpu.cudaGetLastError() == cudaSuccess);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	copy = nth_copy(1);
	CHECK(copy && copy->bytes == 12);
	CHECK(copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
}

static void kinds_of_memory(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY,
				    CUPTI_ACTIVITY_KIND_MEMCPY2, 0};
	static char own[SIZE];
	struct cudaPointerAttributes attributes;
	CUpti_SubscriberHandle handle;
	const CUpti_ActivityMemcpy6 *copy;
	size_t before, after, total;
	void *device, *pinned, *managed;

	begin(kinds, &handle, never);
	CHECK(gpu.cudaMemGetInfo(&before, &total) == 0);
	CHECK(gpu.cudaMalloc(&device, SIZE) == 0);
	CHECK(gpu.cudaMemGetInfo(&after, &total) == 0);
	CHECK(before - after == SIZE);
	CHECK(gpu.cudaMallocHost(&pinned, SIZE) == 0);
	CHECK(gpu.cudaMallocManaged(&managed, SIZE, 1) == 0);
	CHECK(gpu.cudaPointerGetAttributes(&attributes, managed) == 0);
	CHECK(attributes.type == cudaMemoryTypeManaged);
	CHECK(gpu.cudaHostRegister(own, SIZE, 0) == 0);
	CHECK(gpu.cudaMemcpy(device, own, SIZE, cudaMemcpyDefault) == 0);
	CHECK(gpu.cudaHostUnregister(own) == 0);
	CHECK(gpu.cudaMemcpy(device, own, SIZE, cudaMemcpyDefault) == 0);
	CHECK(gpu.cudaMemcpy(pinned, device, SIZE, cudaMemcpyDefault) == 0);
	CHECK(gpu.cudaMemcpyPeer(device, 0, managed, 0, SIZE) == 0);
	CHECK(gpu.cudaFree(managed) == 0 && gpu.cudaFree(device) == 0);
	CHECK(gpu.cudaFree(device) == cudaErrorInvalidValue);
	CHECK(gpu.cudaMalloc(&device, (size_t)1 << 50) ==
	      cudaErrorMemoryAllocation);
	/* The last copies are asynchronous. */
	CHECK(gpu.cudaDeviceSynchronize() == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	copy = nth_copy(0);
	CHECK(copy->srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	CHECK(copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	copy = nth_copy(1);
	CHECK(copy->srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
	CHECK(nth_copy(2) && !nth_copy(3));
	CHECK(((const CUpti_ActivityMemcpyPtoP4 *)nth(
		       CUPTI_ACTIVITY_KIND_MEMCPY2, 0))
		      ->bytes == SIZE);
}

/* A second stream joins the capture by an event; what it copies is in the
 * graph, and is copied when the graph runs, not before. */
static void capture_of_two_streams(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_MEMSET, 0};
	CUpti_SubscriberHandle handle;
	cudaStream_t one, two;
	cudaEvent_t fork_event, join_event;
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	unsigned char *memory;

	begin(kinds, &handle, never);
	CHECK(gpu.cudaMalloc((void **)&memory, SIZE) == 0);
	CHECK(gpu.cudaStreamCreate(&one) == 0);
	CHECK(gpu.cudaStreamCreate(&two) == 0);
	CHECK(gpu.cudaEventCreate(&fork_event) == 0);
	CHECK(gpu.cudaEventCreate(&join_event) == 0);
	CHECK(gpu.cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal) ==
	      0);
	CHECK(gpu.cudaStreamSynchronize(one) ==
	      cudaErrorStreamCaptureUnsupported);
	CHECK(gpu.cudaEventRecord(fork_event, one) == 0);
	CHECK(gpu.cudaStreamWaitEvent(two, fork_event, 0) == 0);
	CHECK(gpu.cudaMemsetAsync(memory, 1, 16, one) == 0);
	CHECK(gpu.cudaMemsetAsync(memory + 16, 2, 16, two) == 0);
	CHECK(gpu.cudaEventRecord(join_event, two) == 0);
	CHECK(gpu.cudaStreamWaitEvent(one, join_event, 0) == 0);
	CHECK(gpu.cudaStreamEndCapture(one, &graph) == 0);
	CHECK(memory[0] == 0 && memory[16] == 0);
	CHECK(gpu.cudaGraphInstantiate(&executable, graph, 0) == 0);
	CHECK(gpu.cudaGraphLaunch(executable, one) == 0);
	CHECK(memory[0] == 1 && memory[16] == 2);
	CHECK(gpu.cudaMemsetAsync(memory, 3, 16, two) == 0);
	CHECK(memory[0] == 3);
	CHECK(gpu.cudaDeviceSynchronize() == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	CHECK(nth(CUPTI_ACTIVITY_KIND_MEMSET, 2) != NULL);
	CHECK(!nth(CUPTI_ACTIVITY_KIND_MEMSET, 3));
}

static void graph_by_nodes(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0};
	struct cudaKernelNodeParams node = {
		.func = (void *)kernel,
		.gridDim = {2, 1, 1},
		.blockDim = {32, 1, 1},
	};
	const CUpti_ActivityKernel10 *record;
	CUpti_SubscriberHandle handle;
	cudaGraphNode_t first, second;
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	register_kernel();
	begin(kinds, &handle, never);
	CHECK(gpu.cudaGraphCreate(&graph, 0) == 0);
	CHECK(gpu.cudaGraphAddKernelNode(&first, graph, NULL, 0, &node) == 0);
	CHECK(gpu.cudaGraphAddKernelNode(&second, graph, &first, 1, &node) ==
	      0);
	node.func = (void *)graph_by_nodes;
	CHECK(gpu.cudaGraphAddKernelNode(&second, graph, NULL, 0, &node) ==
	      cudaErrorInvalidDeviceFunction);
	CHECK(gpu.cudaGraphInstantiate(&executable, graph, 0) == 0);
	CHECK(gpu.cudaGraphLaunch(executable, NULL) == 0);
	CHECK(gpu.cudaDeviceSynchronize() == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	record = (void *)nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
	CHECK(record && record->graphId && record->gridX == 2);
	CHECK(strcmp(record->name, "_Z6kernelv") == 0);
	CHECK(!nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 2));
}

static void set_flag(void *flag)
{
	*(int *)flag = 1;
}

/* An hour of kernel: nothing on the stream is done when it is looked at. */
static void a_stream_is_busy(void)
{
	const dim3 one = {1, 1, 1};
	cudaEvent_t before, after;
	float ms = 0;

	register_kernel();
	CHECK(gpu.cudaEventCreate(&before) == 0);
	CHECK(gpu.cudaEventCreate(&after) == 0);
	CHECK(gpu.cudaEventRecord(before, NULL) == 0);
	CHECK(gpu.cudaLaunchKernel((const void *)kernel, one, one, NULL, 0,
				   NULL) == 0);
	CHECK(gpu.cudaEventRecord(after, NULL) == 0);
	CHECK(gpu.cudaStreamQuery(NULL) == cudaErrorNotReady);
	CHECK(gpu.cudaEventQuery(after) == cudaErrorNotReady);
	CHECK(gpu.cudaEventElapsedTime(&ms, before, after) ==
	      cudaErrorNotReady);
	CHECK(gpu.cudaGetLastError() == cudaSuccess);
}

/* 100 ms of kernel: so long takes waiting, by a host function and by a
 * synchronisation, and so much lies between the events around it. */
static void time_passes(void)
{
	const dim3 one = {1, 1, 1};
	cudaEvent_t before, after;
	int called = 0;
	float ms = 0;

	register_kernel();
	CHECK(gpu.cudaEventCreate(&before) == 0);
	CHECK(gpu.cudaEventCreate(&after) == 0);
	CHECK(gpu.cudaEventRecord(before, NULL) == 0);
	CHECK(gpu.cudaLaunchKernel((const void *)kernel, one, one, NULL, 0,
				   NULL) == 0);
	CHECK(gpu.cudaLaunchHostFunc(NULL, set_flag, &called) == 0 && called);
	CHECK(gpu.cudaStreamQuery(NULL) == 0);
	CHECK(gpu.cudaLaunchKernel((const void *)kernel, one, one, NULL, 0,
				   NULL) == 0);
	CHECK(gpu.cudaEventRecord(after, NULL) == 0);
	CHECK(gpu.cudaStreamSynchronize(NULL) == 0);
	CHECK(gpu.cudaStreamQuery(NULL) == 0);
	CHECK(gpu.cudaEventElapsedTime(&ms, before, after) == 0);
	CHECK(ms >= 200);
}

static void launch_one(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY,
				    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0};
	const dim3 one = {1, 1, 1};
	CUpti_SubscriberHandle handle;
	cudaStream_t other;
	void *memory;

	register_kernel();
	begin(kinds, &handle, never);
	CHECK(gpu.cudaMalloc(&memory, SIZE) == 0);
	CHECK(gpu.cudaStreamCreate(&other) == 0);
	CHECK(gpu.cudaMemcpy(memory, &other, sizeof(other),
			     cudaMemcpyHostToDevice) == 0);
	CHECK(gpu.cudaLaunchKernel((const void *)kernel, one, one, NULL, 0,
				   other) == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
}

/* The copy is done, and lies in one buffer with a kernel of an hour. */
static void withheld(void)
{
	const CUpti_ActivityKernel10 *record;

	launch_one();
	CHECK(!nth(CUPTI_ACTIVITY_KIND_MEMCPY, 0));
	CHECK(gpu.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == 0);
	CHECK(nth(CUPTI_ACTIVITY_KIND_MEMCPY, 0) != NULL);
	record = (void *)nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	CHECK(record && !record->start && !record->end);
}

static void not_withheld(void)
{
	launch_one();
	CHECK(nth(CUPTI_ACTIVITY_KIND_MEMCPY, 0) != NULL);
	CHECK(!nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0));
}

static void limits_of_a_launch(void)
{
	const dim3 one = {1, 1, 1}, none = {0, 1, 1}, many = {64, 32, 1};
	int blocks = 0;

	register_kernel();
	CHECK(gpu.cudaLaunchKernel((const void *)kernel, none, one, NULL, 0,
				   NULL) == cudaErrorInvalidConfiguration);
	CHECK(gpu.cudaLaunchKernel((const void *)kernel, one, many, NULL, 0,
				   NULL) == cudaErrorInvalidConfiguration);
	CHECK(gpu.cudaLaunchKernel((const void *)rows, one, one, NULL, 0,
				   NULL) == cudaErrorInvalidDeviceFunction);
	CHECK(gpu.cudaOccupancyMaxActiveBlocksPerMultiprocessor(
		      &blocks, (const void *)kernel, 1024, 0) == 0);
	CHECK(blocks >= 1 && blocks <= 2);
	CHECK(gpu.cudaOccupancyMaxActiveBlocksPerMultiprocessor(
		      &blocks, (const void *)kernel, 32, 100000) == 0);
	CHECK(blocks == 2);
}

/* clang-format off */
#define TESTS(X)							\
	X(rows, "", 0)							\
	X(kinds_of_memory, "", 0)					\
	X(capture_of_two_streams, "", 0)				\
	X(graph_by_nodes, "SIMGPU_NAME_REUSE=0", 0)			\
	X(a_stream_is_busy, "SIMGPU_KERNEL_NS=3600000000000", 0)	\
	X(time_passes, "SIMGPU_KERNEL_NS=100000000", 0)			\
	X(withheld, "SIMGPU_KERNEL_NS=3600000000000", 0)		\
	X(not_withheld, "SIMGPU_KERNEL_NS=3600000000000 SIMGPU_WITHHOLD=0", \
	  0)								\
	X(limits_of_a_launch, "", 0)
/* clang-format on */

TESTS(TEST_OF)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS(ENTRY_OF)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no double without CUDA's headers");
}

#endif
