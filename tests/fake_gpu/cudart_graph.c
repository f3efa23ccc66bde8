/* SPDX-License-Identifier: MIT */
/*
 * cudart_graph.c - libcudart.so.13: capture and graphs.
 */
#include "tests/fake_gpu/cudart.h"

#include "tests/fake_gpu/sim_graph.h"

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
				   enum cudaStreamCaptureMode mode)
{
	cudaStreamBeginCapture_v10000_params params = {stream, mode};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamBeginCapture_v10000, &params);

	if (sim_call_begin(&call))
		call.result = graph_begin_capture(stream_of(stream));
	return cudart_end(&call);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	cudaStreamEndCapture_v10000_params params = {stream, graph};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamEndCapture_v10000, &params);

	if (sim_call_begin(&call))
		call.result = graph_end_capture(stream_of(stream),
						(struct sim_graph **)graph);
	return cudart_end(&call);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
				  enum cudaStreamCaptureStatus *status)
{
	cudaStreamIsCapturing_v10000_params params = {stream, status};
	struct sim_call call =
		RUNTIME_CALL(cudaStreamIsCapturing_v10000, &params);
	const struct sim_stream *s = stream_of(stream);

	if (sim_call_begin(&call)) {
		*status = s && s->capture ? cudaStreamCaptureStatusActive
					  : cudaStreamCaptureStatusNone;
		if (!s)
			call.result = cudaErrorInvalidResourceHandle;
	}
	return cudart_end(&call);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
				 unsigned long long flags)
{
	cudaGraphInstantiate_v12000_params params = {executable, graph, flags};
	struct sim_call call =
		RUNTIME_CALL(cudaGraphInstantiate_v12000, &params);

	if (sim_call_begin(&call))
		*executable = (cudaGraphExec_t)graph_instantiate(
			(struct sim_graph *)graph);
	return cudart_end(&call);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable,
					  cudaGraph_t graph,
					  unsigned long long flags)
{
	cudaGraphInstantiateWithFlags_v11040_params params = {executable, graph,
							      flags};
	struct sim_call call =
		RUNTIME_CALL(cudaGraphInstantiateWithFlags_v11040, &params);

	if (sim_call_begin(&call))
		*executable = (cudaGraphExec_t)graph_instantiate(
			(struct sim_graph *)graph);
	return cudart_end(&call);
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
	cudaGraphCreate_v10000_params params = {graph, flags};
	struct sim_call call = RUNTIME_CALL(cudaGraphCreate_v10000, &params);

	if (sim_call_begin(&call))
		*graph = (cudaGraph_t)graph_new();
	return cudart_end(&call);
}

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

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream)
{
	cudaGraphUpload_v10000_params params = {executable, stream};
	struct sim_call call = RUNTIME_CALL(cudaGraphUpload_v10000, &params);

	sim_call_begin(&call);
	return cudart_end(&call);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
	cudaGraphLaunch_v10000_params params = {executable, stream};
	struct sim_call call = RUNTIME_CALL(cudaGraphLaunch_v10000, &params);

	if (sim_call_begin(&call))
		call.result = graph_launch((struct sim_graph *)executable,
					   stream_of(stream));
	return cudart_end(&call);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	cudaGraphDestroy_v10000_params params = {graph};
	struct sim_call call = RUNTIME_CALL(cudaGraphDestroy_v10000, &params);

	if (sim_call_begin(&call))
		graph_free((struct sim_graph *)graph);
	return cudart_end(&call);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
	cudaGraphExecDestroy_v10000_params params = {executable};
	struct sim_call call =
		RUNTIME_CALL(cudaGraphExecDestroy_v10000, &params);

	if (sim_call_begin(&call))
		graph_free((struct sim_graph *)executable);
	return cudart_end(&call);
}
