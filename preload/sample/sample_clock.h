/* SPDX-License-Identifier: MIT */
/* sample_clock.h - the processor time of threads. */
#ifndef PRELOAD_SAMPLE_CLOCK_H
#define PRELOAD_SAMPLE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The kernel's number of a thread's clock: CPUCLOCK_PERTHREAD and
 * CPUCLOCK_SCHED. */
static inline clockid_t sample_clock_of(uint32_t tid)
{
	return (clockid_t)(~tid << 3 | 4 | 2);
}

/* 0: there is no such thread any more. */
static inline uint64_t sample_clock_ns(clockid_t clock)
{
	struct timespec now = {.tv_sec = 0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
