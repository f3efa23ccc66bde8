/* SPDX-License-Identifier: MIT */
/*
 * gpu_ask.cu - asks CUPTI what its callbacks say, and what its records do while
 * a GPU is behind.  No library of ours is in the process.
 *
 *	nodes		each callback about a graph: the type that it tells, and
 *			the one that the driver knows
 *	costs		nanoseconds of a launch as one thing after another is on
 *	inflight OFF	1200 kernels of 2 ms, flushed each 50 ms; at 0.9 s all
 *			kinds go off, if OFF: which records come when
 *	names		libraries that come and go: names by callbacks and records
 *	managed		which order of calls gives records of managed memory
 *
 * libcupti is looked for as PROBE_CUPTI says, else by its name.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 15, BURST = 500, ROUNDS = 7, BYTES = 1 << 20 };

#define CUPTI_FUNCTIONS(X)						\
	X(cuptiSubscribe)						\
	X(cuptiUnsubscribe)						\
	X(cuptiEnableCallback)						\
	X(cuptiEnableDomain)						\
	X(cuptiFinalize)						\
	X(cuptiGetGraphId)						\
	X(cuptiGetGraphExecId)						\
	X(cuptiGetGraphNodeId)						\
	X(cuptiActivityEnable)						\
	X(cuptiActivityDisable)						\
	X(cuptiActivityRegisterCallbacks)				\
	X(cuptiActivitySetAttribute)					\
	X(cuptiActivityFlushAll)					\
	X(cuptiActivityConfigureUnifiedMemoryCounter)			\
	X(cuptiActivityGetNextRecord)

#define DRIVER_FUNCTIONS(X)						\
	X(cuInit)							\
	X(cuGraphNodeGetType)						\
	X(cuGraphGetNodes)						\
	X(cuLibraryLoadData)						\
	X(cuLibraryUnload)						\
	X(cuLibraryGetKernel)						\
	X(cuLaunchKernel)

static struct {
#define X(name) decltype(&::name) name;
	CUPTI_FUNCTIONS(X)
	DRIVER_FUNCTIONS(X)
#undef X
} call;

static CUpti_SubscriberHandle subscriber;
static unsigned long seen[64], called[2];
static int is_told;	/* each buffer is printed */
static uint64_t began;
static char names[64][40];
static int name_count;

__global__ void small_kernel(char *data)
{
	if (data)
		data[threadIdx.x] += 1;
}

__global__ void long_kernel(long long clocks)
{
	const long long start = clock64();

	while (clock64() - start < clocks)
		;
}

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "gpu_ask: %s: %d\n", what, error);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The time when it was lent lies before the records. */
static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	uint8_t *made = (uint8_t *)aligned_alloc(8, BUFFER + 8);

	*(uint64_t *)(void *)(made + BUFFER) = now_ns();
	*buffer = made;
	*size = BUFFER;
	*most = 0;
}

static void complete(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	const uint64_t lent = *(uint64_t *)(void *)(buffer + BUFFER);
	uint32_t first_call = ~0u, last_call = 0, first_work = ~0u,
		 last_work = 0, calls = 0, work = 0, others = 0;
	CUpti_Activity *record = NULL;
	int rc;

	while (!(rc = call.cuptiActivityGetNextRecord(buffer, valid, &record))) {
		__atomic_add_fetch(&seen[record->kind % 64], 1,
				   __ATOMIC_RELAXED);
		if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ||
		    record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
			const uint32_t id =
				((CUpti_ActivityAPI *)record)->correlationId;

			calls++;
			first_call = id < first_call ? id : first_call;
			last_call = id > last_call ? id : last_call;
		} else if (record->kind ==
			   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			const CUpti_ActivityKernel9 *kernel =
				(const CUpti_ActivityKernel9 *)record;
			const uint32_t id = kernel->correlationId;

			work++;
			first_work = id < first_work ? id : first_work;
			last_work = id > last_work ? id : last_work;
			if (name_count < 64)
				snprintf(names[name_count++], 40, "%u:%s", id,
					 kernel->name);
		} else {
			others++;
		}
	}
	if (is_told)
		printf("  buffer lent at %.1f ms, back at %.1f ms, bytes %zu, rc "
		       "%d: calls %u (%u-%u) kernels %u (%u-%u) others %u\n",
		       (double)(lent - began) / 1e6,
		       (double)(now_ns() - began) / 1e6, valid, rc, calls,
		       calls ? first_call : 0, last_call, work,
		       work ? first_work : 0, last_work, others);
	free(buffer);
}

static void find_all(void)
{
	const char *path = getenv("PROBE_CUPTI");
	void *library = dlopen(path && *path ? path : "libcupti.so.13",
			       RTLD_NOW | RTLD_GLOBAL);
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

	check(!library, "libcupti");
	check(!driver, "libcuda");
#define X(name) *(void **)&call.name = dlsym(library, #name);
	CUPTI_FUNCTIONS(X)
#undef X
#define X(name) *(void **)&call.name = dlsym(driver, #name);
	DRIVER_FUNCTIONS(X)
#undef X
}

/* --- nodes ---------------------------------------------------------------- */

static int is_asking;

static void on_graph(uint32_t number, const CUpti_ResourceData *about)
{
	const CUpti_GraphData *data =
		(const CUpti_GraphData *)about->resourceDescriptor;
	CUgraphNodeType type = (CUgraphNodeType)-1, original = type;
	uint64_t node = 0;
	uint32_t graph = 0, executable = 0;
	size_t count = 0;
	int rc = -1, rc2 = -1, rc3 = -1;

	if (number < CUPTI_CBID_RESOURCE_GRAPH_CREATED ||
	    number > CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING || !data)
		return;
	call.cuptiGetGraphId(data->graph, &graph);
	if (data->graphExec)
		call.cuptiGetGraphExecId(data->graphExec, &executable);
	if (data->node)
		call.cuptiGetGraphNodeId(data->node, &node);
	printf("  cb %u graph %p (%u) original %p node %p (%lu) original %p type "
	       "%d exec %p (%u)",
	       number, (void *)data->graph, graph, (void *)data->originalGraph,
	       (void *)data->node, (unsigned long)node,
	       (void *)data->originalNode, (int)data->nodeType,
	       (void *)data->graphExec, executable);
	fflush(stdout);
	if (is_asking && data->node)
		rc = call.cuGraphNodeGetType(data->node, &type);
	if (is_asking && data->originalNode)
		rc2 = call.cuGraphNodeGetType(data->originalNode, &original);
	if (is_asking && data->graph &&
	    number == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
		rc3 = call.cuGraphGetNodes(data->graph, NULL, &count);
	printf(" driver %d:%d %d:%d nodes %d:%zu\n", rc, (int)type, rc2,
	       (int)original, rc3, count);
	fflush(stdout);
}

static void CUPTIAPI callback(void *, CUpti_CallbackDomain domain,
			      CUpti_CallbackId number, const void *data)
{
	const CUpti_CallbackData *api = (const CUpti_CallbackData *)data;

	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		on_graph(number, (const CUpti_ResourceData *)data);
	} else {
		called[domain == CUPTI_CB_DOMAIN_DRIVER_API]++;
		if (is_told && api->callbackSite == CUPTI_API_ENTER)
			printf("  %s %u: %s of %s\n", api->functionName,
			       api->correlationId, api->symbolName,
			       domain == CUPTI_CB_DOMAIN_DRIVER_API ? "driver"
								    : "runtime");
	}
}

static void on_host(void *)
{
}

static int nodes(int asking)
{
	cudaGraph_t graph, inner;
	cudaGraphNode_t node, alloc;
	cudaGraphExec_t executable;
	cudaKernelNodeParams kernel = {};
	cudaMemsetParams set = {};
	cudaHostNodeParams host = {on_host, NULL};
	cudaMemAllocNodeParams memory = {};
	cudaEvent_t event;
	cudaStream_t stream;
	char *none = NULL, *data;
	void *arguments[] = {&none}, *taken;
	static char kept[256];

	is_asking = asking;
	alarm(20);
	check(cudaFree(NULL), "context");
	check(call.cuptiSubscribe(&subscriber, callback, NULL), "subscribe");
	check(call.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE),
	      "domain");
	check(cudaMalloc((void **)&data, BYTES), "memory");
	check(cudaStreamCreate(&stream), "stream");
	check(cudaEventCreate(&event), "event");
	printf("built\n");
	check(cudaGraphCreate(&graph, 0), "graph");
	kernel.func = (void *)small_kernel;
	kernel.gridDim = kernel.blockDim = dim3(1);
	kernel.kernelParams = arguments;
	set.dst = data;
	set.elementSize = 1;
	set.width = 256;
	set.height = 1;
	memory.poolProps.allocType = cudaMemAllocationTypePinned;
	memory.poolProps.location.type = cudaMemLocationTypeDevice;
	memory.bytesize = BYTES;
	printf("kernel\n");
	check(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel), "kernel");
	printf("memset\n");
	check(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set), "set");
	printf("memcpy\n");
	check(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, data, data + 512,
				       256, cudaMemcpyDeviceToDevice), "copy");
	printf("host\n");
	check(cudaGraphAddHostNode(&node, graph, NULL, 0, &host), "host");
	printf("empty\n");
	check(cudaGraphAddEmptyNode(&node, graph, NULL, 0), "empty");
	printf("event\n");
	check(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, event), "event");
	printf("instantiate\n");
	check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
	printf("launch\n");
	check(cudaGraphLaunch(executable, stream), "launch");
	check(cudaStreamSynchronize(stream), "wait");
	printf("destroy\n");
	check(cudaGraphExecDestroy(executable), "exec destroy");
	check(cudaGraphDestroy(graph), "destroy");
	printf("memory\n");
	check(cudaGraphCreate(&graph, 0), "graph");
	check(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &memory), "alloc");
	check(cudaGraphAddMemFreeNode(&node, graph, &alloc, 1, memory.dptr),
	      "free");
	printf("child\n");
	check(cudaGraphCreate(&inner, 0), "inner");
	check(cudaGraphAddKernelNode(&node, inner, NULL, 0, &kernel), "kernel");
	check(cudaGraphCreate(&graph, 0), "graph");
	check(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, inner), "child");
	check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
	printf("captured\n");
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
	      "capture");
	printf("c kernel\n");
	small_kernel<<<1, 32, 0, stream>>>(NULL);
	printf("c memset\n");
	check(cudaMemsetAsync(data, 1, 256, stream), "set");
	printf("c memcpy\n");
	check(cudaMemcpyAsync(kept, data, 256, cudaMemcpyDeviceToHost, stream),
	      "copy");
	printf("c alloc\n");
	check(cudaMallocAsync(&taken, 256, stream), "alloc");
	check(cudaFreeAsync(taken, stream), "free");
	printf("c host\n");
	check(cudaLaunchHostFunc(stream, on_host, NULL), "host");
	printf("c end\n");
	check(cudaStreamEndCapture(stream, &graph), "end");
	printf("c instantiate\n");
	check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
	check(cudaGraphLaunch(executable, stream), "launch");
	check(cudaDeviceSynchronize(), "end");
	return 0;
}

/* --- costs ---------------------------------------------------------------- */

static double launch_ns(void)
{
	double best = 1e18;

	for (int round = 0; round < ROUNDS; round++) {
		const uint64_t start = now_ns();
		double one;

		for (int i = 0; i < BURST; i++)
			small_kernel<<<1, 32>>>(NULL);
		one = (double)(now_ns() - start) / BURST;
		check(cudaDeviceSynchronize(), "wait");
		best = one < best ? one : best;
	}
	return best;
}

static void turn(CUpti_ActivityKind kind, int on)
{
	if (on)
		call.cuptiActivityEnable(kind);
	else
		call.cuptiActivityDisable(kind);
}

static void callbacks_of(CUpti_CallbackDomain domain, int on)
{
	static const CUpti_CallbackId runtime[] = {
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000};
	static const CUpti_CallbackId driver[] = {
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx};

	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		call.cuptiEnableCallback((uint32_t)on, subscriber, domain,
					 runtime[0]);
	else
		for (CUpti_CallbackId id : driver)
			call.cuptiEnableCallback((uint32_t)on, subscriber,
						 domain, id);
}

static int costs(void)
{
	static const struct {
		const char *name;
		CUpti_ActivityKind kind;
	} kinds[] = {{"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
		     {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
		     {"driver", CUPTI_ACTIVITY_KIND_DRIVER},
		     {"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
		     {"memset", CUPTI_ACTIVITY_KIND_MEMSET},
		     {"sync", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
		     {"memory2", CUPTI_ACTIVITY_KIND_MEMORY2},
		     {"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
		     {"event", CUPTI_ACTIVITY_KIND_CUDA_EVENT}};

	launch_ns();
	printf("costs none %.0f", launch_ns());
	check(call.cuptiSubscribe(&subscriber, callback, NULL), "subscribe");
	printf(" subscribed %.0f", launch_ns());
	call.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				 CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	printf(" resource %.0f", launch_ns());
	callbacks_of(CUPTI_CB_DOMAIN_DRIVER_API, 1);
	printf(" driver_callback %.0f (%lu)", launch_ns(), called[1]);
	callbacks_of(CUPTI_CB_DOMAIN_DRIVER_API, 0);
	callbacks_of(CUPTI_CB_DOMAIN_RUNTIME_API, 1);
	printf(" runtime_callback %.0f (%lu)", launch_ns(), called[0]);
	callbacks_of(CUPTI_CB_DOMAIN_RUNTIME_API, 0);
	printf(" callbacks_off %.0f", launch_ns());
	check(call.cuptiActivityRegisterCallbacks(request, complete), "buffers");
	for (const auto &kind : kinds) {
		turn(kind.kind, 1);
		printf(" +%s %.0f", kind.name, launch_ns());
	}
	callbacks_of(CUPTI_CB_DOMAIN_RUNTIME_API, 1);
	printf(" +runtime_callback %.0f", launch_ns());
	callbacks_of(CUPTI_CB_DOMAIN_RUNTIME_API, 0);
	callbacks_of(CUPTI_CB_DOMAIN_DRIVER_API, 1);
	printf(" +driver_callback %.0f", launch_ns());
	callbacks_of(CUPTI_CB_DOMAIN_DRIVER_API, 0);
	turn(CUPTI_ACTIVITY_KIND_DRIVER, 0);
	printf(" -driver %.0f", launch_ns());
	for (const auto &kind : kinds) {
		turn(kind.kind, 0);
		if (kind.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
		    kind.kind == CUPTI_ACTIVITY_KIND_RUNTIME)
			printf(" -%s %.0f", kind.name, launch_ns());
	}
	printf(" all_off %.0f", launch_ns());
	call.cuptiActivityFlushAll(1);
	printf(" flushed %.0f", launch_ns());
	call.cuptiUnsubscribe(subscriber);
	printf(" unsubscribed %.0f", launch_ns());
	call.cuptiFinalize();
	printf(" finalized %.0f\n", launch_ns());
	return 0;
}

/* --- records while the GPU is behind ---------------------------------------- */

static void all_kinds(int on)
{
	for (CUpti_ActivityKind kind :
	     {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
	      CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_OVERHEAD})
		turn(kind, on);
}

static volatile int flushing = 1;
static int off_at;

static void *flush_often(void *)
{
	for (int i = 0; flushing; i++) {
		usleep(50000);
		if (off_at && i == 17) {
			all_kinds(0);
			printf("  all kinds are off at %.1f ms\n",
			       (double)(now_ns() - began) / 1e6);
		}
		call.cuptiActivityFlushAll(0);
	}
	return NULL;
}

static int inflight(int off)
{
	uint8_t per_thread = 1;
	size_t size = sizeof(per_thread);
	int clock_khz = 1000000;
	pthread_t thread;

	off_at = off;
	call.cuptiActivitySetAttribute(
		CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size,
		&per_thread);
	check(cudaFree(NULL), "context");
	cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0);
	check(call.cuptiActivityRegisterCallbacks(request, complete), "buffers");
	all_kinds(1);
	is_told = 1;
	began = now_ns();
	pthread_create(&thread, NULL, flush_often, NULL);
	for (int i = 0; i < 1200; i++) {
		long_kernel<<<1, 1>>>(2ll * clock_khz);
		if (i % 200 == 199)
			printf("  launched %d at %.1f ms\n", i + 1,
			       (double)(now_ns() - began) / 1e6);
	}
	check(cudaDeviceSynchronize(), "wait");
	flushing = 0;
	pthread_join(thread, NULL);
	call.cuptiActivityFlushAll(1);
	printf("inflight off %d: kernels %lu runtime %lu driver %lu of 1200\n",
	       off, seen[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL],
	       seen[CUPTI_ACTIVITY_KIND_RUNTIME],
	       seen[CUPTI_ACTIVITY_KIND_DRIVER]);
	return 0;
}

/* --- names ------------------------------------------------------------------ */

static int library_names(void)
{
	char text[300], name[32];

	check(cudaFree(NULL), "context");
	check(call.cuptiSubscribe(&subscriber, callback, NULL), "subscribe");
	callbacks_of(CUPTI_CB_DOMAIN_DRIVER_API, 1);
	check(call.cuptiActivityRegisterCallbacks(request, complete), "buffers");
	turn(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
	is_told = 1;
	for (int i = 0; i < 6; i++) {
		uint64_t none = 0;
		void *arguments[] = {&none};
		CUlibrary library;
		CUkernel kernel;

		snprintf(name, sizeof(name), "turn_%d", i);
		snprintf(text, sizeof(text),
			 ".version 7.0\n.target sm_75\n.address_size 64\n"
			 ".visible .entry %s(.param .u64 data)\n{\n\tret;\n}\n",
			 name);
		check(call.cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL,
					     NULL, 0), "load");
		check(call.cuLibraryGetKernel(&kernel, library, name), "kernel");
		printf("  launched: %s, %p\n", name, (void *)kernel);
		check(call.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0,
					  NULL, arguments, NULL), "launch");
		if (i > 2) {	/* is a flush in time enough? */
			check(cudaDeviceSynchronize(), "wait");
			call.cuptiActivityFlushAll(0);
		}
		check(call.cuLibraryUnload(library), "unload");
	}
	check(cudaDeviceSynchronize(), "wait");
	call.cuptiActivityFlushAll(1);
	printf("names");
	for (int i = 0; i < name_count; i++)
		printf(" %s", names[i]);
	printf("\n");
	return 0;
}

/* --- managed memory ----------------------------------------------------------- */

static int configure(void)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config[4] = {};
	const CUpti_ActivityUnifiedMemoryCounterKind kinds[] = {
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT};

	for (int i = 0; i < 4; i++) {
		config[i].scope =
			CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
		config[i].kind = kinds[i];
		config[i].deviceId = 0;
		config[i].enable = 1;
	}
	return call.cuptiActivityConfigureUnifiedMemoryCounter(config, 4);
}

static int managed(void)
{
	char *data;
	int first, second, third, fourth, sum = 0;

	first = configure();
	second = call.cuptiActivityEnable(
		CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	check(call.cuptiActivityRegisterCallbacks(request, complete), "buffers");
	check(call.cuInit(0), "cuInit");
	third = configure();
	fourth = call.cuptiActivityEnable(
		CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	printf("managed before cuInit: configure %d enable %d; after: %d %d;",
	       first, second, third, fourth);
	check(cudaMallocManaged((void **)&data, BYTES, cudaMemAttachGlobal),
	      "managed");
	first = configure();
	second = call.cuptiActivityEnable(
		CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	memset(data, 1, BYTES);
	small_kernel<<<1, 32>>>(data);
	check(cudaDeviceSynchronize(), "wait");
	for (int i = 0; i < BYTES; i += 4096)
		sum += data[i];
	check(cudaFree(data), "free");
	call.cuptiActivityFlushAll(1);
	printf(" with a context: %d %d; records %lu\n", first, second,
	       seen[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER]);
	return sum < 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const int number = argc > 2 ? atoi(argv[2]) : 0;

	find_all();
	if (!strcmp(what, "nodes"))
		return nodes(number);
	if (!strcmp(what, "costs"))
		return costs();
	if (!strcmp(what, "inflight"))
		return inflight(number);
	if (!strcmp(what, "names"))
		return library_names();
	if (!strcmp(what, "managed"))
		return managed();
	fprintf(stderr, "gpu_ask: see the head of gpu_ask.cu\n");
	return 2;
}
