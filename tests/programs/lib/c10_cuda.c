/* SPDX-License-Identifier: MIT */
/*
 * c10_cuda.c - a caching allocator like that of PyTorch's libc10_cuda.so: gets
 * memory in pieces of 20 MB, hands out blocks of it, and says so.
 */
#include <stddef.h>
#include <stdint.h>

#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE

void REPORT(void *block, int64_t bytes, size_t allocated, size_t reserved,
	    uint16_t device);

enum { PIECE = 20000000, CUDA = 1, DEVICES = 8 };

static struct {
	size_t allocated, reserved;
	char *piece;
	size_t used;
} devices[DEVICES];

/* `get` is cudaMalloc(). */
void *allocator_get(int device, size_t bytes, int (*get)(void **, size_t))
{
	void *block, *piece = NULL;

	if (devices[device].reserved - devices[device].used < bytes) {
		if (get(&piece, PIECE))
			return NULL;
		devices[device].piece = piece;
		devices[device].used = devices[device].reserved;
		devices[device].reserved += PIECE;
	}
	block = devices[device].piece + devices[device].used % PIECE;
	devices[device].used += bytes;
	devices[device].allocated += bytes;
	REPORT(block, (int64_t)bytes, devices[device].allocated,
	       devices[device].reserved, (uint16_t)(device << 8 | CUDA));
	return block;
}

void allocator_put(int device, void *block, size_t bytes)
{
	devices[device].allocated -= bytes;
	/* The last one is used again. */
	devices[device].used -= bytes;
	REPORT(block, -(int64_t)bytes, devices[device].allocated,
	       devices[device].reserved, (uint16_t)(device << 8 | CUDA));
}
