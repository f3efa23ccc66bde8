/* SPDX-License-Identifier: MIT */
/* futex.h - sleeping until a word changes, within a process or across two. */
#ifndef COLLECTOR_FUTEX_H
#define COLLECTOR_FUTEX_H

#include "collector/system/base.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `value`, at most `ns`; it may wake up sooner. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value,
			      uint64_t ns)
{
	const struct timespec limit = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

/* Wakes all who sleep there. */
static inline void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Waits as long as *word is `value`, and then sees all that was done before it
 * changed.  False: `ns` are over. */
bool futex_wait_while(_Atomic uint32_t *word, uint32_t value, uint64_t ns);

/* Sets *word, behind all that was done before, and wakes who waits for it. */
void futex_change(_Atomic uint32_t *word, uint32_t value);

#endif
