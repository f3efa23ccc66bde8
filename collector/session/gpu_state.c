/* SPDX-License-Identifier: MIT */
/* gpu_state.c - the table of streams; see gpu_state.h. */
#include "collector/session/gpu_state.h"

static uint64_t key_of(uint32_t context, uint32_t stream)
{
	return (uint64_t)context << 32 | stream;
}

struct gpu_stream *gpu_stream_slot(struct gpu_state *gpu, uint32_t context,
				   uint32_t stream)
{
	const uint64_t key = key_of(context, stream);

	for (uint32_t i = 0; key && i < GPU_STREAMS_MAX; i++) {
		struct gpu_stream *slot =
			&gpu->stream[(stream + i) % GPU_STREAMS_MAX];
		uint64_t found = load_relaxed(&slot->key);

		if (!found &&
		    atomic_compare_exchange_strong_explicit(
			    &slot->key, &found, key, memory_order_relaxed,
			    memory_order_relaxed))
			return slot;
		if (found == key)
			return slot;
	}
	return NULL;
}

const struct gpu_stream *gpu_stream_find(const struct gpu_state *gpu,
					 uint32_t context, uint32_t stream)
{
	const uint64_t key = key_of(context, stream);

	for (uint32_t i = 0; i < GPU_STREAMS_MAX; i++) {
		const struct gpu_stream *slot =
			&gpu->stream[(stream + i) % GPU_STREAMS_MAX];
		const uint64_t found = load_relaxed(&slot->key);

		if (!found || found == key)
			return found ? slot : NULL;
	}
	return NULL;
}
