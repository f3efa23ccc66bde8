/* SPDX-License-Identifier: MIT */
/* cuda_calls.c - hooks of the CUDA runtime; see cuda_calls.h. */
#include "preload/cuda_calls.h"

void cuda_calls_record(struct session *session)
{
	store_relaxed(&session->head->gpu.source, GPU_SOURCE_CALLS);
}
