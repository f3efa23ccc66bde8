/* SPDX-License-Identifier: MIT */
/*
 * cudart_graph.c - libcudart.so.13: capture and graphs.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_graph.h"

static cudaGraphExec_t instantiated(cudaGraph_t graph)
{
	return (cudaGraphExec_t)graph_instantiate((struct sim_graph *)graph);
}

/* clang-format off */
BOTH(cudaStreamBeginCapture, v10000, ptsz, v10000,
     (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode),
     graph_begin_capture(at(stream)))

BOTH(cudaStreamEndCapture, v10000, ptsz, v10000,
     (cudaStream_t stream, cudaGraph_t *graph), (stream, graph),
     graph_end_capture(at(stream), (struct sim_graph **)graph))

CALL(cudaStreamIsCapturing, v10000,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
     (stream, status),
     (*status = at(stream) && at(stream)->capture
		     ? cudaStreamCaptureStatusActive
		     : cudaStreamCaptureStatusNone,
      at(stream) ? 0 : NO_STREAM))

CALL(cudaGraphInstantiate, v12000,
     (cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags),
     (executable, graph, flags), (*executable = instantiated(graph), 0))

CALL(cudaGraphInstantiateWithFlags, v11040,
     (cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags),
     (executable, graph, flags), (*executable = instantiated(graph), 0))

CALL(cudaGraphCreate, v10000, (cudaGraph_t *graph, unsigned int flags),
     (graph, flags), (*graph = (cudaGraph_t)graph_new(), 0))

CALL(cudaGraphExecUpdate, v10020,
     (cudaGraphExec_t executable, cudaGraph_t graph,
      cudaGraphExecUpdateResultInfo *info), (executable, graph, info),
     graph_update((struct sim_graph *)executable, (struct sim_graph *)graph))

CALL(cudaGraphNodeSetEnabled, v11060,
     (cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int on),
     (executable, node, on),
     graph_enable((struct sim_graph *)executable, (uintptr_t)node, (int)on))

CALL(cudaGraphUpload, v10000, (cudaGraphExec_t executable, cudaStream_t stream),
     (executable, stream), 0)

BOTH(cudaGraphLaunch, v10000, ptsz, v10000,
     (cudaGraphExec_t executable, cudaStream_t stream), (executable, stream),
     graph_launch((struct sim_graph *)executable, at(stream)))

CALL(cudaGraphDestroy, v10000, (cudaGraph_t graph), (graph),
     (graph_destroy((struct sim_graph *)graph, 0), 0))

CALL(cudaGraphExecDestroy, v10000, (cudaGraphExec_t executable), (executable),
     (graph_destroy((struct sim_graph *)executable, 1), 0))
/* clang-format on */

static int add_memory(cudaGraphNode_t *node, cudaGraph_t graph, void **address,
		      size_t size)
{
	*node = (cudaGraphNode_t)graph_add_memory((struct sim_graph *)graph,
						  address, size);
	return *node ? 0 : cudaErrorMemoryAllocation;
}

/* clang-format off */
CALL(cudaGraphAddMemAllocNode, v11040,
     (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t
         *dependencies, size_t count, struct cudaMemAllocNodeParams *memory),
     (node, graph, dependencies, count, memory),
     add_memory(node, graph, &memory->dptr, memory->bytesize))

CALL(cudaGraphAddMemFreeNode, v11040,
     (cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t
         *dependencies, size_t count, void *address),
     (node, graph, dependencies, count, address),
     add_memory(node, graph, &address, 0))
/* clang-format on */

/* The order of addition serves for all dependencies. */
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *dependencies,
				   size_t count,
				   const struct cudaKernelNodeParams *kernel)
{
	cudaGraphAddKernelNode_v10000_params params = {
		node, graph, dependencies, count, kernel};
	struct sim_call call =
		RUNTIME_CALL(cudaGraphAddKernelNode_v10000, &params);
	const struct sim_work work = {
		.kind = WORK_KERNEL,
		.kernel = kernel_of_host(kernel->func),
		.grid = {kernel->gridDim.x, kernel->gridDim.y,
			 kernel->gridDim.z},
		.block = {kernel->blockDim.x, kernel->blockDim.y,
			  kernel->blockDim.z},
		.shared = kernel->sharedMemBytes,
		.asynchronous = 1,
	};

	if (sim_call_begin(&call)) {
		if (work.kernel)
			*node = (cudaGraphNode_t)graph_add(
				(struct sim_graph *)graph, &work);
		else
			call.result = cudaErrorInvalidDeviceFunction;
	}
	return cudart_end(&call);
}
