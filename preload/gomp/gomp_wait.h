/* SPDX-License-Identifier: MIT */
/*
 * gomp_wait.h - a wait as one event, and what is held after it.
 */
#ifndef PRELOAD_GOMP_WAIT_H
#define PRELOAD_GOMP_WAIT_H

#include "preload/gomp/gomp_slice.h"

/* Begins a wait if waits are recorded. */
static inline bool gomp_wait_begin(struct gomp_slice *wait,
				   const struct gomp_site *site,
				   const void *return_address,
				   enum omp_sync sync)
{
	return unlikely(gomp_is_recording()) && !gomp_is_foreign(site) &&
	       gomp_slice_open(wait, site, return_address, EVENT_OMP_WAIT,
			       sync);
}

/* Ends it.  Returns the time. */
static inline uint64_t gomp_wait_end(const struct gomp_slice *wait)
{
	static const struct gomp_detail nothing;
	const uint64_t end = clock_ticks();

	gomp_slice_close(wait, end, &nothing);
	return end;
}

#endif
