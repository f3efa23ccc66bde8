/* SPDX-License-Identifier: MIT */
/*
 * page_size.h - how large a page of this machine is: 4 KiB on x86-64; 4, 16 or
 * 64 KiB on aarch64.  PAGE_BYTES is the least; the kernel rounds to this.
 */
#ifndef COLLECTOR_PAGE_SIZE_H
#define COLLECTOR_PAGE_SIZE_H

#include "collector/system/base.h"
#include <sys/auxv.h>

/* Any thread, before anything is set up, too. */
static inline uint64_t page_bytes(void)
{
#if defined(__x86_64__)
	return PAGE_BYTES;
#else
	const uint64_t said = getauxval(AT_PAGESZ);

	return said ? said : PAGE_BYTES_MOST;
#endif
}

static inline uint64_t page_of(uint64_t address)
{
	return address & ~(page_bytes() - 1);
}

#endif
