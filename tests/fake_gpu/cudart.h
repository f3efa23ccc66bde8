/* SPDX-License-Identifier: MIT */
/*
 * cudart.h - what the files of libcudart.so.13 share.
 *
 * Most functions are one row, CALL or BOTH: parameters, what CUPTI shows of
 * them, and the work, an expression that gives the result.  BOTH makes two
 * functions of it, the second one for programs that were built with
 * --default-stream per-thread, where stream 0 is each thread's own: in the
 * work, at() is how this function finds its stream.
 */
#ifndef FAKE_GPU_CUDART_H
#define FAKE_GPU_CUDART_H

#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_stream.h"
#include <cuda_runtime_api.h>

#define NO_STREAM ((int)cudaErrorInvalidResourceHandle)

/* clang-format off */
#define CUDART_LIST(...) __VA_ARGS__
#define CUDART_FUNCTION(name, version, find, parameters, arguments, ...) \
	cudaError_t name parameters					\
	{								\
		name##_##version##_params params = {			\
			CUDART_LIST arguments};				\
		struct sim_call call =					\
			RUNTIME_CALL(name##_##version, &params);	\
		struct sim_stream *(*const at)(const void *) = (find);  \
									\
		(void)at;						\
		if (sim_call_begin(&call))				\
			call.result = (int)(__VA_ARGS__);		\
		return cudart_end(&call);				\
	}
#define CALL(name, version, parameters, arguments, ...)			\
	CUDART_FUNCTION(name, version, stream_of, parameters, arguments, \
			__VA_ARGS__)
/* The headers give the second one its name only by macros. */
#define BOTH(name, version, own, own_version, parameters, arguments, ...) \
	CALL(name, version, parameters, arguments, __VA_ARGS__)		\
	cudaError_t name##_##own parameters;				\
	CUDART_FUNCTION(name##_##own, own_version, stream_or_own, parameters, \
			arguments, __VA_ARGS__)
/* clang-format on */

static inline struct sim_stream *stream_or_own(const void *stream)
{
	return stream ? stream_of(stream) : stream_per_thread();
}

/* Ends the bracket, and remembers an error for cudaGetLastError(). */
cudaError_t cudart_end(struct sim_call *call);

#endif
