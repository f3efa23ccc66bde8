/* SPDX-License-Identifier: MIT */
/*
 * cudart.h - what the files of libcudart.so.13 share.
 */
#ifndef FAKE_GPU_CUDART_H
#define FAKE_GPU_CUDART_H

#include "tests/fake_gpu/sim_call.h"
#include <cuda_runtime_api.h>

/* Ends the bracket, and remembers an error for cudaGetLastError(). */
cudaError_t cudart_end(struct sim_call *call);

#endif
