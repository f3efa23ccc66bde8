/* SPDX-License-Identifier: MIT */
/*
 * cuda_kinds.cu - one thing each of what a GPU does beside plain kernels and
 * copies.
 *
 *	cuda_kinds WORD...
 *
 * pools	a memory pool that is made, used, trimmed and destroyed
 * managed	managed memory that a kernel and then the host touch
 * shapes	a cluster, a cooperative kernel, a stream of high priority
 * failures	calls that fail
 * peer		a copy from device 0 to device 1
 * names	NVTX's names of streams
 * host		a host function, in a stream and as a node of a graph
 * graphs	memory of graphs: by nodes, captured, and freed outside
 * blocks	a graph with 5000 blocks
 * pairs	a hundred times memory in a stream's order, and free again
 * built	a graph that is built of nodes and never launched
 * busy		a second of small kernels
 * naming	a thousand times NVTX's name of a stream
 * marking	an event that has a name is recorded a thousand times
 */
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 20, ROUNDS = 100, NAMINGS = 1000 };

static cudaStream_t stream;
static int called;

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "cuda_kinds: %s: %s\n", what, cudaGetErrorName(error));
	exit(1);
}

__global__ void touch(char *data)
{
	if (data)
		data[threadIdx.x] += 1;
}

static void pools(void)
{
	cudaMemPoolProps properties = {};
	unsigned long long threshold = 3 * BYTES;
	cudaMemPool_t pool;
	void *first, *second, *other;

	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	check(cudaMemPoolCreate(&pool, &properties), "create");
	check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
				      &threshold), "threshold");
	check(cudaMallocFromPoolAsync(&first, BYTES, pool, stream), "first");
	check(cudaMallocFromPoolAsync(&second, BYTES, pool, stream), "second");
	check(cudaMallocAsync(&other, 2 * BYTES, stream), "of the default one");
	check(cudaFreeAsync(first, stream), "free");
	check(cudaFreeAsync(second, stream), "free");
	check(cudaFreeAsync(other, stream), "free");
	check(cudaStreamSynchronize(stream), "wait");
	check(cudaMemPoolTrimTo(pool, 0), "trim");
	check(cudaMemPoolDestroy(pool), "destroy");
}

static void managed(void)
{
	char *data;

	check(cudaMallocManaged((void **)&data, BYTES, cudaMemAttachGlobal),
	      "managed");
	memset(data, 1, BYTES);
	touch<<<1, 32>>>(data);
	check(cudaDeviceSynchronize(), "wait");
	for (int i = 0; i < BYTES; i += 4096)
		called += data[i];
	check(cudaFree(data), "free");
}

static void shapes(void)
{
	cudaLaunchAttribute cluster = {};
	cudaLaunchConfig_t config = {};
	char *none = NULL;
	void *arguments[] = {&none};
	cudaStream_t urgent;
	int least, greatest;

	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim.x = 2;
	cluster.val.clusterDim.y = 1;
	cluster.val.clusterDim.z = 1;
	config.gridDim = dim3(4);
	config.blockDim = dim3(32);
	config.stream = stream;
	config.attrs = &cluster;
	config.numAttrs = 1;
	check(cudaLaunchKernelExC(&config, (const void *)touch, arguments),
	      "cluster");
	check(cudaLaunchCooperativeKernel((const void *)touch, dim3(2),
					  dim3(32), arguments, 0, stream),
	      "cooperative");
	check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "range");
	check(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking,
					   greatest), "stream");
	touch<<<1, 64, 0, urgent>>>(NULL);
	check(cudaStreamSynchronize(urgent), "wait");
}

static void failures(void)
{
	void *data;

	if (cudaMalloc(&data, (size_t)1 << 50) != cudaErrorMemoryAllocation)
		exit(2);
	touch<<<1, 4096, 0, stream>>>(NULL);
	if (cudaGetLastError() != cudaErrorInvalidConfiguration)
		exit(2);
	touch<<<1, 4096, 0, stream>>>(NULL);
	cudaGetLastError();
}

static void peer(void)
{
	char *from, *to;

	check(cudaMalloc((void **)&from, BYTES), "from");
	check(cudaMalloc((void **)&to, BYTES), "to");
	for (int i = 0; i < 3; i++)
		check(cudaMemcpyPeerAsync(to, 1, from, 0, BYTES, stream),
		      "peer");
	check(cudaStreamSynchronize(stream), "wait");
}

static void names(void)
{
	cudaEvent_t events[3];
	cudaStream_t other;

	check(cudaStreamCreate(&other), "stream");
	nvtxNameCudaStreamA(stream, "decoder");
	nvtxNameCudaStreamW(other, L"encoder");
	check(cudaEventCreate(&events[0]), "event");
	check(cudaEventCreate(&events[1]), "event");
	check(cudaEventCreate(&events[2]), "event");
	nvtxNameCudaEventA(events[0], "loaded");
	nvtxNameCudaEventW(events[1], L"read");
	for (int i = 0; i < 3; i++)
		check(cudaEventRecord(events[i], stream), "record");
	/* Another one may get its handle. */
	check(cudaEventDestroy(events[0]), "destroy");
	for (int i = 0; i < 20; i++) {
		check(cudaEventCreate(&events[0]), "event");
		check(cudaEventRecord(events[0], stream), "record");
	}
	touch<<<1, 32, 0, stream>>>(NULL);
	touch<<<1, 32, 0, other>>>(NULL);
	check(cudaDeviceSynchronize(), "wait");
}

/* So many times, to be counted: a stream is named, */
static void naming(void)
{
	for (int i = 0; i < NAMINGS; i++)
		nvtxNameCudaStreamA(stream, "decoder");
}

/* and an event recorded that has a name. */
static void marking(void)
{
	static cudaEvent_t event;

	if (!event) {
		check(cudaEventCreate(&event), "event");
		nvtxNameCudaEventA(event, "loaded");
	}
	for (int i = 0; i < NAMINGS; i++)
		check(cudaEventRecord(event, stream), "record");
}

static void on_host(void *argument)
{
	*(int *)argument += 1;
}

static void host(void)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	check(cudaLaunchHostFunc(stream, on_host, &called), "host");
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
	      "capture");
	touch<<<1, 32, 0, stream>>>(NULL);
	check(cudaLaunchHostFunc(stream, on_host, &called), "host node");
	check(cudaStreamEndCapture(stream, &graph), "capture");
	check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
	check(cudaGraphLaunch(executable, stream), "graph");
	check(cudaStreamSynchronize(stream), "wait");
}

static void *add_memory(cudaGraph_t graph, cudaGraphNode_t *last, size_t bytes)
{
	cudaMemAllocNodeParams memory = {};

	memory.poolProps.allocType = cudaMemAllocationTypePinned;
	memory.poolProps.location.type = cudaMemLocationTypeDevice;
	memory.bytesize = bytes;
	check(cudaGraphAddMemAllocNode(last, graph, NULL, 0, &memory),
	      "memory node");
	return memory.dptr;
}

static void add_kernel(cudaGraph_t graph, cudaGraphNode_t *last)
{
	cudaKernelNodeParams kernel = {};
	char *none = NULL;
	void *arguments[] = {&none};
	cudaGraphNode_t before = *last;

	kernel.func = (void *)touch;
	kernel.gridDim = dim3(1);
	kernel.blockDim = dim3(32);
	kernel.kernelParams = arguments;
	check(cudaGraphAddKernelNode(last, graph, &before, 1, &kernel),
	      "kernel node");
}

static void launch(cudaGraph_t graph, int times)
{
	cudaGraphExec_t executable;

	check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
	for (int i = 0; i < times; i++)
		check(cudaGraphLaunch(executable, stream), "graph");
	check(cudaStreamSynchronize(stream), "wait");
}

static void graphs(void)
{
	cudaGraphNode_t last, kernel;
	cudaGraph_t graph;
	void *memory;

	check(cudaGraphCreate(&graph, 0), "graph");
	memory = add_memory(graph, &last, BYTES);
	add_kernel(graph, &last);
	kernel = last;
	check(cudaGraphAddMemFreeNode(&last, graph, &kernel, 1, memory),
	      "free node");
	launch(graph, 2);

	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
	      "capture");
	check(cudaMallocAsync(&memory, 2 * BYTES, stream), "captured");
	touch<<<1, 32, 0, stream>>>(NULL);
	check(cudaFreeAsync(memory, stream), "captured free");
	check(cudaStreamEndCapture(stream, &graph), "capture");
	launch(graph, 1);

	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
	      "capture");
	check(cudaMallocAsync(&memory, 3 * BYTES, stream), "captured");
	touch<<<1, 32, 0, stream>>>(NULL);
	check(cudaStreamEndCapture(stream, &graph), "capture");
	launch(graph, 1);
	check(cudaFreeAsync(memory, stream), "free outside");
	check(cudaMallocAsync(&memory, 4 * BYTES, stream), "plain");
	check(cudaFreeAsync(memory, stream), "plain free");
}

static void blocks(void)
{
	cudaGraph_t graph;
	void *memory;

	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
	      "capture");
	for (int i = 0; i < 5000; i++)
		check(cudaMallocAsync(&memory, 4096, stream), "captured");
	check(cudaStreamEndCapture(stream, &graph), "capture");
}

static void pairs(void)
{
	void *memory;

	for (int i = 0; i < ROUNDS; i++) {
		check(cudaMallocAsync(&memory, 4096, stream), "in order");
		check(cudaFreeAsync(memory, stream), "in order");
	}
}

static void built(void)
{
	cudaGraphNode_t last;
	cudaGraph_t graph;

	check(cudaGraphCreate(&graph, 0), "graph");
	add_memory(graph, &last, BYTES);
	for (int i = 0; i < ROUNDS; i++)
		add_kernel(graph, &last);
	touch<<<1, 32, 0, stream>>>(NULL);
}

static void busy(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		touch<<<1, 32, 0, stream>>>(NULL);
		check(cudaStreamSynchronize(stream), "wait");
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} parts[] = {{"pools", pools},	     {"managed", managed},
		     {"shapes", shapes},     {"failures", failures},
		     {"peer", peer},	     {"names", names},
		     {"host", host},	     {"graphs", graphs},
		     {"blocks", blocks},     {"pairs", pairs},
		     {"built", built},	     {"busy", busy},
		     {"naming", naming},     {"marking", marking}};

	check(cudaStreamCreate(&stream), "stream");
	for (int i = 1; i < argc; i++)
		for (size_t j = 0; j < sizeof(parts) / sizeof(parts[0]); j++)
			if (!strcmp(argv[i], parts[j].word))
				parts[j].run();
	check(cudaDeviceSynchronize(), "the end");
	printf("%d\n", called);
	return 0;
}
