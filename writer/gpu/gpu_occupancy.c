/* SPDX-License-Identifier: MIT */
/* gpu_occupancy.c - the limits of a multiprocessor; see gpu_occupancy.h. */
#include "writer/gpu/gpu_occupancy.h"

/* Registers go to warps in units of so many, warps to the four partitions of a
 * multiprocessor. */
#define REGISTER_UNIT	256u
#define PARTITIONS	4u
/* From compute capability 8.0 on each block has this much shared memory for the
 * system, and shared memory goes in smaller units than before. */
#define SYSTEM_SHARED	1024u
#define SHARED_UNIT	128u
#define SHARED_UNIT_OLD 256u

static unsigned int round_up(uint64_t value, unsigned int unit)
{
	return (unsigned int)((value + unit - 1) / unit * unit);
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int limit_by_registers(const struct gpu_device *device,
				       const struct gpu_kernel *kernel,
				       unsigned int warps,
				       struct gpu_occupancy *made)
{
	const unsigned int per_warp = round_up(
		(uint64_t)kernel->registers * device->warp_size, REGISTER_UNIT);
	unsigned int per_partition;

	made->registers_per_block = per_warp * round_up(warps, PARTITIONS);
	if (!kernel->registers)
		return UINT32_MAX;
	if (made->registers_per_block > device->registers_per_block)
		return 0;
	per_partition =
		device->registers_per_multiprocessor / PARTITIONS / per_warp;
	return per_partition * PARTITIONS / warps;
}

static unsigned int limit_by_shared(const struct gpu_device *device,
				    const struct gpu_kernel *kernel,
				    struct gpu_occupancy *made)
{
	const bool is_new = device->major >= 8;
	const uint64_t bytes = (uint64_t)kernel->static_bytes +
			       kernel->dynamic_bytes +
			       (is_new ? SYSTEM_SHARED : 0);

	if (bytes > UINT32_MAX / 2)
		return 0;
	made->shared_per_block =
		round_up(bytes, is_new ? SHARED_UNIT : SHARED_UNIT_OLD);
	if (!made->shared_per_block)
		return UINT32_MAX;
	return device->shared_per_multiprocessor / made->shared_per_block;
}

bool gpu_occupancy_of(const struct gpu_device *device,
		      const struct gpu_kernel *kernel,
		      struct gpu_occupancy *made)
{
	const double blocks =
		(double)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
	const uint64_t threads = (uint64_t)kernel->block[0] * kernel->block[1] *
				 kernel->block[2];
	double filled;
	unsigned int warps;
	uint64_t most;

	*made = (struct gpu_occupancy){0};
	if (!device->is_known || !device->multiprocessors ||
	    !device->warp_size || !device->warps_per_multiprocessor)
		return false;
	made->blocks_per_sm = blocks / device->multiprocessors;
	made->warps_per_sm = blocks * (double)threads / device->warp_size /
			     device->multiprocessors;
	if (!threads || threads > 65536)
		return true;
	warps = round_up(threads, device->warp_size) / device->warp_size;
	made->by_warps = device->warps_per_multiprocessor / warps;
	made->by_blocks = device->blocks_per_multiprocessor;
	made->by_registers = limit_by_registers(device, kernel, warps, made);
	made->by_shared = limit_by_shared(device, kernel, made);
	made->active = least(least(made->by_warps, made->by_blocks),
			     least(made->by_registers, made->by_shared));
	most = (uint64_t)device->warps_per_multiprocessor * device->warp_size;
	filled = made->active < made->blocks_per_sm ? made->active
						    : made->blocks_per_sm;
	made->percent =
		(unsigned int)(filled * (double)threads / (double)most * 100 +
			       0.5);
	if (made->percent > 100)
		made->percent = 100;
	return true;
}
