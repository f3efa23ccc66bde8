/* SPDX-License-Identifier: MIT */
/* futex.c - a word that others wait for; see futex.h. */
#include "collector/system/futex.h"

#include "collector/system/clock.h"

bool futex_wait_while(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	const uint64_t end = clock_monotonic_ns() + ns;

	/* ACQUIRE pairs with RELEASE in futex_change(): what came before. */
	while (load_acquire(word) == value) {
		const uint64_t now = clock_monotonic_ns();

		if (now >= end)
			return false;
		futex_wait(word, value, end - now);
	}
	return true;
}

void futex_change(_Atomic uint32_t *word, uint32_t value)
{
	/* RELEASE pairs with ACQUIRE in futex_wait_while(). */
	store_release(word, value);
	futex_wake(word);
}
