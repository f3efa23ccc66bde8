/* SPDX-License-Identifier: MIT */
/* cupti_device.c - devices and contexts of CUPTI; see cupti_device.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_device.h"

#include "collector/session/names.h"
#include <string.h>

_Static_assert(offsetof(CUpti_ActivityDevice5, id) == 112, "CUPTI moved id");
_Static_assert(offsetof(CUpti_ActivityDevice5, name) == 136,
	       "CUPTI moved name");

#define CONTEXTS_MAX 64u

static struct {
	uint32_t context, device;
} contexts[CONTEXTS_MAX];

void cupti_device_take(struct session *session,
		       const CUpti_ActivityDevice5 *record)
{
	struct gpu_device *known_as;
	const char *name;
	size_t len;

	if (record->id >= GPU_DEVICES_MAX)
		return;
	known_as = &session->head->gpu.device[record->id];
	*known_as = (struct gpu_device){
		.memory_bytes = record->globalMemorySize,
		.major = record->computeCapabilityMajor,
		.minor = record->computeCapabilityMinor,
		.multiprocessors = record->numMultiprocessors,
		.warp_size = record->numThreadsPerWarp,
		.warps_per_multiprocessor = record->maxWarpsPerMultiprocessor,
		.blocks_per_multiprocessor = record->maxBlocksPerMultiprocessor,
		.threads_per_block = record->maxThreadsPerBlock,
		.registers_per_block = record->maxRegistersPerBlock,
		.registers_per_multiprocessor =
			record->maxRegistersPerMultiprocessor,
		.shared_per_block = record->maxSharedMemoryPerBlock,
		.shared_per_multiprocessor =
			record->maxSharedMemoryPerMultiprocessor,
	};
	name = names_text(session, (uint32_t)(uintptr_t)record->name, &len);
	memcpy(known_as->name, name,
	       len < GPU_NAME_BYTES ? len : GPU_NAME_BYTES - 1);
	known_as->is_known = 1;
}

void cupti_device_note(uint32_t context, uint32_t device)
{
	contexts[context % CONTEXTS_MAX].context = context;
	contexts[context % CONTEXTS_MAX].device = device;
}

uint32_t cupti_device_of(uint32_t context)
{
	return contexts[context % CONTEXTS_MAX].context == context
		       ? contexts[context % CONTEXTS_MAX].device
		       : 0;
}

void cupti_device_forget(void)
{
	memset(contexts, 0, sizeof(contexts));
}

#endif
