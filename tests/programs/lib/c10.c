/* SPDX-License-Identifier: MIT */
/* c10.c - of PyTorch's libc10.so what a caching allocator calls: it counts. */
#include <stddef.h>
#include <stdint.h>

#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE

static long reports;

void REPORT(void *block, int64_t bytes, size_t allocated, size_t reserved,
	    uint16_t device)
{
	(void)block, (void)bytes, (void)allocated, (void)reserved, (void)device;
	reports++;
}

long c10_reports(void)
{
	return reports;
}
