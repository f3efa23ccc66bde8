/* SPDX-License-Identifier: MIT */
/* gpu_tail.c - devices, versions and counts of GPUs; see gpu_tail.h. */
#include "writer/gpu/gpu_tail.h"

#include "writer/gpu/gpu_known.h"
#include "writer/text/schema.h"
#include <string.h>

/* Shared memory that a block may ask for beyond the usual 48 KiB, where the
 * system keeps a part for itself. */
#define SYSTEM_SHARED 1024u

static void number(struct json *json, const char *key, uint64_t value)
{
	json_char(json, ',');
	json_string(json, key, strlen(key));
	json_char(json, ':');
	json_u64(json, value);
}

static void version(struct json *json, const char *key,
		    const _Atomic int32_t *known)
{
	const int32_t value = load_relaxed((_Atomic int32_t *)known);

	if (value > 0)
		number(json, key, (uint64_t)value);
}

static void device(struct json *json, unsigned int id,
		   const struct gpu_device *known)
{
	const uint64_t shared = known->shared_per_multiprocessor;

	json_raw(json, "{\"id\":");
	json_u64(json, id);
	json_raw(json, ",\"name\":");
	json_string(json, known->name, strnlen(known->name, GPU_NAME_BYTES));
	number(json, "totalGlobalMem", known->memory_bytes);
	number(json, "computeMajor", known->major);
	number(json, "computeMinor", known->minor);
	number(json, "maxThreadsPerBlock", known->threads_per_block);
	number(json, "maxThreadsPerMultiprocessor",
	       (uint64_t)known->warps_per_multiprocessor * known->warp_size);
	number(json, "regsPerBlock", known->registers_per_block);
	number(json, "warpSize", known->warp_size);
	number(json, "sharedMemPerBlock", known->shared_per_block);
	number(json, "numSms", known->multiprocessors);
	number(json, "regsPerMultiprocessor",
	       known->registers_per_multiprocessor);
	number(json, "sharedMemPerBlockOptin",
	       known->major >= 8 && shared > SYSTEM_SHARED
		       ? shared - SYSTEM_SHARED
		       : shared);
	number(json, "sharedMemPerMultiprocessor", shared);
	json_char(json, '}');
}

void gpu_tail_devices(const struct writer_state *state, struct json *json)
{
	const struct gpu_state *gpu_state = &state->session->head->gpu;
	unsigned int last = 0;

	/* The place in the list is the id: a hole gets an empty one. */
	for (unsigned int i = 0; i < GPU_DEVICES_MAX; i++) {
		if (gpu_state->device[i].is_known)
			last = i + 1;
	}
	json_raw(json, SCHEMA_KEY(SCHEMA_DEVICES) "[");
	for (unsigned int i = 0; i < last; i++) {
		if (i)
			json_raw(json, ",\n");
		device(json, i, &gpu_state->device[i]);
	}
	json_char(json, ']');
	if (gpu_state->cupti_version)
		number(json, SCHEMA_CUPTI_VERSION, gpu_state->cupti_version);
	version(json, SCHEMA_CUDA_RUNTIME_VERSION, &gpu_state->runtime_version);
	version(json, SCHEMA_CUDA_DRIVER_VERSION, &gpu_state->driver_version);
	json_raw(json, ",\n");
}

void gpu_tail_account(const struct writer_state *state, struct json *json)
{
	struct gpu_state *gpu_state = &state->session->head->gpu;
	const uint32_t source = load_relaxed(&gpu_state->source);

	if (source == GPU_SOURCE_NONE)
		return;
	json_raw(json, ",\n\"gpu\":{\"source\":");
	if (source == GPU_SOURCE_CUPTI)
		json_raw(json, "\"cupti\"");
	else
		json_raw(json, "\"calls\"");
	number(json, "launches", gpu_state->launches);
	number(json, "kernels", gpu_state->kernels);
	number(json, "without_time", gpu_state->without_time);
	number(json, "unknown_records", gpu_state->unknown);
	number(json, "doubled_calls", gpu_state->doubled);
	number(json, "lost_buffers", load_relaxed(&gpu_state->lost));
	number(json, "dropped_records", load_relaxed(&gpu_state->dropped));
	if (state->gpu) {
		number(json, "unlinked", state->gpu->unlinked);
		number(json, "moved_to_launch", state->gpu->moved);
		number(json, "moved_most_ns", state->gpu->most_moved_ns);
	}
	json_char(json, '}');
}
