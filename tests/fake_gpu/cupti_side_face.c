/* SPDX-License-Identifier: MIT */
/*
 * cupti_side_face.c - libcupti.so.13: switches of rarer kinds.
 */
#include "tests/fake_gpu/cupti_state.h"

#include "tests/fake_gpu/sim_cupti.h"
#include "tests/fake_gpu/sim_life.h"

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t on)
{
	const CUptiResult error = state_enter(__func__);

	if (!error)
		sim_cupti.latency_timestamps = on;
	return error;
}

CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
	CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
	const CUptiResult error = state_enter(__func__);

	if (error)
		return error;
	if (!config || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = 0; i < count; i++)
		sim_cupti.unified_memory = (int)config[i].enable;
	return CUPTI_SUCCESS;
}
