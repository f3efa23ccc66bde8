/* SPDX-License-Identifier: MIT */
/*
 * sim_cupti.h - switches of CUPTI that the device looks at.
 */
#ifndef FAKE_GPU_SIM_CUPTI_H
#define FAKE_GPU_SIM_CUPTI_H

struct sim_cupti {
	_Atomic int event_timestamps;	/* EnableCudaEventDeviceTimestamps */
	_Atomic int latency_timestamps; /* EnableLatencyTimestamps */
	_Atomic int unified_memory;	/* ConfigureUnifiedMemoryCounter */
	_Atomic int all_sync_records;	/* EnableAllSyncRecords, on at first */
};

extern struct sim_cupti sim_cupti;

#endif
