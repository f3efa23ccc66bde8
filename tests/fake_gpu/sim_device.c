/* SPDX-License-Identifier: MIT */
/*
 * sim_device.c - what the GPU says of itself.
 */
#include "tests/fake_gpu/sim_device.h"

#include "tests/fake_gpu/sim_knobs.h"

#include "tests/fake_gpu/sim_life.h"
#include <string.h>

enum {
	MOST_GRID_X = 2147483647,
	MOST_GRID_YZ = 65535,
	REGISTER_UNIT = 256,
	SHARED_UNIT = 128,
};

const char device_name[] = "Simulated GPU";
static const char uuid[16] = "simulated-gpu-0";
static const char mig_uuid[16] = "simulated-mig-0";

int device_driver_version(void)
{
	/* By cuptiGetVersion(), from 19 on. */
	static const int minors[] = {0, 2, 3, 4, 5, 6, 6, 8, 9, 9};
	const uint32_t version = sim_knobs()->version;

	if (version >= VERSION_LONG)
		return 13000;
	if (version < 19 || version - 19 >= sizeof(minors) / sizeof(minors[0]))
		return 12000;
	return 12000 + 10 * minors[version - 19];
}

void device_describe(CUpti_ActivityDevice5 *record, uint32_t id)
{
	record->id = id;
	record->name = device_name;
	record->globalMemorySize = DEVICE_MEMORY_BYTES;
	record->globalMemoryBandwidth = 4917504000; /* kB/s */
	record->constantMemorySize = DEVICE_CONSTANT_BYTES;
	record->l2CacheSize = DEVICE_L2_BYTES;
	record->numThreadsPerWarp = DEVICE_WARP;
	record->coreClockRate = DEVICE_CLOCK_KHZ;
	record->numMemcpyEngines = DEVICE_COPY_ENGINES;
	record->numMultiprocessors = DEVICE_MULTIPROCESSORS;
	record->maxIPC = 5;
	record->maxWarpsPerMultiprocessor =
		DEVICE_THREADS_PER_MULTIPROCESSOR / DEVICE_WARP;
	record->maxBlocksPerMultiprocessor = DEVICE_BLOCKS_PER_MULTIPROCESSOR;
	record->maxSharedMemoryPerMultiprocessor =
		DEVICE_SHARED_PER_MULTIPROCESSOR;
	record->maxRegistersPerMultiprocessor = DEVICE_REGISTERS;
	record->maxRegistersPerBlock = DEVICE_REGISTERS;
	record->maxSharedMemoryPerBlock = DEVICE_SHARED_PER_BLOCK;
	record->maxThreadsPerBlock = DEVICE_THREADS_PER_BLOCK;
	record->maxBlockDimX = DEVICE_THREADS_PER_BLOCK;
	record->maxBlockDimY = DEVICE_THREADS_PER_BLOCK;
	record->maxBlockDimZ = 64;
	record->maxGridDimX = MOST_GRID_X;
	record->maxGridDimY = MOST_GRID_YZ;
	record->maxGridDimZ = MOST_GRID_YZ;
	record->computeCapabilityMajor = DEVICE_MAJOR;
	record->computeCapabilityMinor = DEVICE_MINOR;
	record->eccEnabled = 1;
	record->isCudaVisible = 1;
	memcpy(&record->uuid, uuid, sizeof(record->uuid));
	if (sim_knobs()->mig) {
		record->isMigEnabled = 1;
		record->gpuInstanceId = 3;
		record->computeInstanceId = 1;
		memcpy(&record->migUuid, mig_uuid, sizeof(record->migUuid));
	}
}

void device_properties(struct cudaDeviceProp *properties)
{
	struct cudaDeviceProp p = {
		.totalGlobalMem = DEVICE_MEMORY_BYTES,
		.sharedMemPerBlock = DEVICE_SHARED_PER_BLOCK,
		.regsPerBlock = DEVICE_REGISTERS,
		.warpSize = DEVICE_WARP,
		.maxThreadsPerBlock = DEVICE_THREADS_PER_BLOCK,
		.maxThreadsDim = {DEVICE_THREADS_PER_BLOCK,
				  DEVICE_THREADS_PER_BLOCK, 64},
		.maxGridSize = {MOST_GRID_X, MOST_GRID_YZ, MOST_GRID_YZ},
		.totalConstMem = DEVICE_CONSTANT_BYTES,
		.major = DEVICE_MAJOR,
		.minor = DEVICE_MINOR,
		.multiProcessorCount = DEVICE_MULTIPROCESSORS,
		.unifiedAddressing = 1,
		.managedMemory = 1,
		.concurrentKernels = 1,
		.asyncEngineCount = DEVICE_COPY_ENGINES,
		.memoryBusWidth = DEVICE_BUS_BITS,
		.l2CacheSize = DEVICE_L2_BYTES,
		.maxThreadsPerMultiProcessor =
			DEVICE_THREADS_PER_MULTIPROCESSOR,
		.maxBlocksPerMultiProcessor = DEVICE_BLOCKS_PER_MULTIPROCESSOR,
		.regsPerMultiprocessor = DEVICE_REGISTERS,
		.sharedMemPerMultiprocessor = DEVICE_SHARED_PER_MULTIPROCESSOR,
		.sharedMemPerBlockOptin = DEVICE_SHARED_PER_BLOCK_OPTIN,
		.reservedSharedMemPerBlock = DEVICE_SHARED_RESERVED,
		.memoryPoolsSupported = 1,
		.ECCEnabled = 1,
		.pciBusID = 1,
	};

	strcpy(p.name, device_name);
	memcpy(&p.uuid, uuid, sizeof(p.uuid));
	*properties = p;
}

int device_attribute(int attribute)
{
	/* clang-format off */
	static const struct {
		int attribute;
		int value;
	} known[] = {
		{cudaDevAttrMaxThreadsPerBlock, DEVICE_THREADS_PER_BLOCK},
		{cudaDevAttrMaxBlockDimX, DEVICE_THREADS_PER_BLOCK},
		{cudaDevAttrMaxBlockDimY, DEVICE_THREADS_PER_BLOCK},
		{cudaDevAttrMaxBlockDimZ, 64},
		{cudaDevAttrMaxGridDimX, MOST_GRID_X},
		{cudaDevAttrMaxGridDimY, MOST_GRID_YZ},
		{cudaDevAttrMaxGridDimZ, MOST_GRID_YZ},
		{cudaDevAttrMaxSharedMemoryPerBlock, DEVICE_SHARED_PER_BLOCK},
		{cudaDevAttrTotalConstantMemory, DEVICE_CONSTANT_BYTES},
		{cudaDevAttrWarpSize, DEVICE_WARP},
		{cudaDevAttrMaxRegistersPerBlock, DEVICE_REGISTERS},
		{cudaDevAttrClockRate, DEVICE_CLOCK_KHZ},
		{cudaDevAttrMultiProcessorCount, DEVICE_MULTIPROCESSORS},
		{cudaDevAttrConcurrentKernels, 1},
		{cudaDevAttrEccEnabled, 1},
		{cudaDevAttrPciBusId, 1},
		{cudaDevAttrMemoryClockRate, DEVICE_MEMORY_CLOCK_KHZ},
		{cudaDevAttrGlobalMemoryBusWidth, DEVICE_BUS_BITS},
		{cudaDevAttrL2CacheSize, DEVICE_L2_BYTES},
		{cudaDevAttrMaxThreadsPerMultiProcessor, DEVICE_THREADS_PER_MULTIPROCESSOR},
		{cudaDevAttrAsyncEngineCount, DEVICE_COPY_ENGINES},
		{cudaDevAttrUnifiedAddressing, 1},
		{cudaDevAttrComputeCapabilityMajor, DEVICE_MAJOR},
		{cudaDevAttrComputeCapabilityMinor, DEVICE_MINOR},
		{cudaDevAttrMaxSharedMemoryPerMultiprocessor, DEVICE_SHARED_PER_MULTIPROCESSOR},
		{cudaDevAttrMaxRegistersPerMultiprocessor, DEVICE_REGISTERS},
		{cudaDevAttrManagedMemory, 1},
		{cudaDevAttrMaxSharedMemoryPerBlockOptin, DEVICE_SHARED_PER_BLOCK_OPTIN},
		{cudaDevAttrMaxBlocksPerMultiprocessor, DEVICE_BLOCKS_PER_MULTIPROCESSOR},
		{cudaDevAttrReservedSharedMemoryPerBlock, DEVICE_SHARED_RESERVED},
		{cudaDevAttrMemoryPoolsSupported, 1},
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].attribute == attribute)
			return known[i].value;
	return 0;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static size_t round_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

int device_blocks_per_multiprocessor(int threads, int registers, size_t shared)
{
	const int warps = (threads + DEVICE_WARP - 1) / DEVICE_WARP;
	int blocks = DEVICE_BLOCKS_PER_MULTIPROCESSOR;

	if (threads <= 0 || threads > DEVICE_THREADS_PER_BLOCK)
		return 0;
	blocks = least(blocks,
		       DEVICE_THREADS_PER_MULTIPROCESSOR / DEVICE_WARP / warps);
	if (registers)
		blocks =
			least(blocks, DEVICE_REGISTERS /
					      (int)round_up((size_t)registers *
								    DEVICE_WARP,
							    REGISTER_UNIT) /
					      warps);
	shared = round_up(shared + DEVICE_SHARED_RESERVED, SHARED_UNIT);
	return least(blocks, (int)(DEVICE_SHARED_PER_MULTIPROCESSOR / shared));
}
