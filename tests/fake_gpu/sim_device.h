/* SPDX-License-Identifier: MIT */
/*
 * sim_device.h - the one GPU there is, in numbers.
 */
#ifndef FAKE_GPU_SIM_DEVICE_H
#define FAKE_GPU_SIM_DEVICE_H

#include <cupti.h>
#include <driver_types.h>

enum {
	DEVICE_MULTIPROCESSORS = 132,
	DEVICE_MAJOR = 9,
	DEVICE_MINOR = 0,
	DEVICE_WARP = 32,
	DEVICE_THREADS_PER_BLOCK = 1024,
	DEVICE_THREADS_PER_MULTIPROCESSOR = 2048,
	DEVICE_BLOCKS_PER_MULTIPROCESSOR = 32,
	DEVICE_REGISTERS = 65536,
	DEVICE_SHARED_PER_BLOCK = 49152,
	DEVICE_SHARED_PER_BLOCK_OPTIN = 232448,
	DEVICE_SHARED_PER_MULTIPROCESSOR = 233472,
	DEVICE_SHARED_RESERVED = 1024,
	DEVICE_CLOCK_KHZ = 1980000,
	DEVICE_MEMORY_CLOCK_KHZ = 3201000,
	DEVICE_BUS_BITS = 6144,
	DEVICE_L2_BYTES = 62914560,
	DEVICE_CONSTANT_BYTES = 65536,
	DEVICE_COPY_ENGINES = 3,
	RUNTIME_VERSION = 13000,
};

#define DEVICE_MEMORY_BYTES ((size_t)141 << 30)

extern const char device_name[];

/* The driver that came out with the simulated CUPTI, 12090 for 12.9. */
int device_driver_version(void);

void device_describe(CUpti_ActivityDevice5 *record, uint32_t id);
void device_properties(struct cudaDeviceProp *properties);

/* One attribute by number, which runtime and driver share. */
int device_attribute(int attribute);

/* Blocks of the kernel that fit on one multiprocessor. */
int device_blocks_per_multiprocessor(int threads, int registers, size_t shared);

#endif
