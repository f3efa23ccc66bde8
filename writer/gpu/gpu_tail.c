/* SPDX-License-Identifier: MIT */
/* gpu_tail.c - devices, versions and counts of GPUs; see gpu_tail.h. */
#include "writer/gpu/gpu_tail.h"

#include "writer/gpu/gpu_known.h"
#include "collector/system/log.h"
#include "writer/text/schema.h"
#include <string.h>

/* Shared memory that a block may ask for beyond the usual 48 KiB, where the
 * system keeps a part for itself. */
#define SYSTEM_SHARED 1024u

/* As nvidia-smi writes it: GPU-12345678-1234-1234-1234-123456789abc. */
static void uuid(struct json *json, const char *prefix, const uint8_t *bytes)
{
	char text[48];
	size_t at = log_format(text, sizeof(text), "%s", prefix);

	for (int i = 0; i < 16; i++)
		at += log_format(text + at, sizeof(text) - at, "%s%02x",
				 i == 4 || i == 6 || i == 8 || i == 10 ? "-"
								       : "",
				 bytes[i]);
	json_string(json, text, at);
}

static void identity(struct json *json, const struct gpu_device *known)
{
	json_raw(json, ",\"uuid\":");
	uuid(json, "GPU-", known->uuid);
	if (!known->is_mig)
		return;
	json_raw(json, ",\"migUuid\":");
	uuid(json, "MIG-", known->mig_uuid);
	json_pair_u64(json, "gpuInstanceId", known->gpu_instance);
	json_pair_u64(json, "computeInstanceId", known->compute_instance);
}

static void device(struct json *json, unsigned int id,
		   const struct gpu_device *known)
{
	const uint64_t shared = known->shared_per_multiprocessor;

	json_raw(json, "{\"id\":");
	json_u64(json, id);
	json_pair_text(json, "name", known->name,
		       strnlen(known->name, GPU_NAME_BYTES));
	identity(json, known);
	json_pair_u64(json, "totalGlobalMem", known->memory_bytes);
	json_pair_u64(json, "computeMajor", known->major);
	json_pair_u64(json, "computeMinor", known->minor);
	json_pair_u64(json, "maxThreadsPerBlock", known->threads_per_block);
	json_pair_u64(json, "maxThreadsPerMultiprocessor",
		      (uint64_t)known->warps_per_multiprocessor *
			      known->warp_size);
	json_pair_u64(json, "regsPerBlock", known->registers_per_block);
	json_pair_u64(json, "warpSize", known->warp_size);
	json_pair_u64(json, "sharedMemPerBlock", known->shared_per_block);
	json_pair_u64(json, "numSms", known->multiprocessors);
	json_pair_u64(json, "regsPerMultiprocessor",
		      known->registers_per_multiprocessor);
	json_pair_u64(json, "sharedMemPerBlockOptin",
		      known->major >= 8 && shared > SYSTEM_SHARED
			      ? shared - SYSTEM_SHARED
			      : shared);
	json_pair_u64(json, "sharedMemPerMultiprocessor", shared);
	json_char(json, '}');
}

void gpu_tail_devices(const struct writer_state *state, struct json *json)
{
	struct gpu_state *gpu_state = &state->session->head->gpu;
	const int32_t runtime = load_relaxed(&gpu_state->runtime_version);
	const int32_t driver = load_relaxed(&gpu_state->driver_version);
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
		json_pair_u64(json, SCHEMA_CUPTI_VERSION,
			      gpu_state->cupti_version);
	if (runtime > 0)
		json_pair_u64(json, SCHEMA_CUDA_RUNTIME_VERSION,
			      (uint64_t)runtime);
	if (driver > 0)
		json_pair_u64(json, SCHEMA_CUDA_DRIVER_VERSION,
			      (uint64_t)driver);
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
	json_pair_u64(json, "launches", gpu_state->launches);
	json_pair_u64(json, "kernels", gpu_state->kernels);
	json_pair_u64(json, "without_time", gpu_state->without_time);
	json_pair_u64(json, "unfinished", gpu_state->unfinished);
	json_pair_u64(json, "unknown_records", gpu_state->unknown);
	json_pair_u64(json, "doubled_calls", gpu_state->doubled);
	json_pair_u64(json, "unpaired_calls", gpu_state->unpaired);
	json_pair_u64(json, "unknown_captures", gpu_state->unknown_captures);
	json_pair_u64(json, "lost_buffers", load_relaxed(&gpu_state->lost));
	json_pair_u64(json, "dropped_records",
		      load_relaxed(&gpu_state->dropped));
	if (state->session->head->stacks.slots)
		json_pair_u64(json, "calls_without_stack",
			      gpu_state->without_stack);
	if (state->gpu) {
		const struct gpu_launches *launches = &state->gpu->launches;
		const bool is_of_file =
			launches->file == state->file.file_index;

		json_pair_u64(json, "launched_kernels",
			      is_of_file ? launches->launched : 0);
		json_pair_u64(json, "missing_kernels",
			      is_of_file ? launches->missing : 0);
		json_pair_u64(json, "partial_graphs",
			      is_of_file ? launches->partial : 0);
		json_pair_u64(json, "unsized_graphs",
			      is_of_file ? launches->unsized : 0);
		if (state->gpu->unsettled_ns)
			json_pair_u64(json, "unsettled_ns",
				      state->gpu->unsettled_ns);
		if (state->gpu->taken_ns)
			json_pair_u64(json, "taken_ns", state->gpu->taken_ns);
		if (state->gpu->is_silent)
			json_pair_u64(json, "silent", 1);
		json_pair_u64(json, "unlinked", state->gpu->unlinked);
		json_pair_u64(json, "cut_annotations", state->gpu->links.cut);
		json_pair_u64(json, "calls_without_operation",
			      state->gpu->links.unknown);
		json_pair_u64(json, "waits_without_recording",
			      state->gpu->marks.missed);
		json_pair_u64(json, "crossing_slices",
			      state->gpu->rows.crossing +
				      state->gpu->annotations.crossing);
		json_pair_u64(json, "moved_to_launch", state->gpu->moved);
		json_pair_u64(json, "moved_most_ns", state->gpu->most_moved_ns);
	}
	json_char(json, '}');
}
