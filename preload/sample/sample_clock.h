/* SPDX-License-Identifier: MIT */
/* sample_clock.h - the processor time of threads. */
#ifndef PRELOAD_SAMPLE_CLOCK_H
#define PRELOAD_SAMPLE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

static inline struct timespec sample_time_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

/* The first expiration after so long, 0 for never, and one each period from
 * then on.  False: there is no such timer. */
static inline bool sample_timer_start(int timer, uint64_t first_ns,
				      uint64_t period_ns)
{
	const struct itimerspec times = {sample_time_of(period_ns),
					 sample_time_of(first_ns)};

	return !syscall(SYS_timer_settime, timer, 0, &times, NULL);
}

#endif
