/* SPDX-License-Identifier: MIT */
/* samples.c - the table of sampled blocks; see samples.h. */
#include "preload/heap/samples.h"

#include <string.h>
#include <sys/mman.h>

#define SLOTS	  (256u * 1024)
#define SHIFT	  (64 - 18)
#define PROBES	  64u
#define WAS_TAKEN 1u  /* a slot that was used: looking goes on behind it */
#define STUCK	  255 /* a byte of the filter that has lost count */

_Static_assert(SLOTS == 1u << (64 - SHIFT), "the hash gives a slot");

_Atomic uint8_t sample_filter[SAMPLE_FILTER];
static _Atomic uintptr_t *table;

static uint64_t home_of(const void *ptr)
{
	return ((uint64_t)(uintptr_t)ptr >> 4) * UINT64_C(0x9e3779b97f4a7c15) >>
	       SHIFT;
}

bool samples_start(void)
{
	const size_t bytes = SLOTS * sizeof(*table);
	void *fresh = mmap(table, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				   (table ? MAP_FIXED : 0),
			   -1, 0);

	if (fresh == MAP_FAILED)
		return false;
	if (table)
		memset((void *)sample_filter, 0, sizeof(sample_filter));
	table = fresh;
	return true;
}

static void count(const void *ptr, bool is_more)
{
	_Atomic uint8_t *byte = samples_byte(ptr);
	uint8_t seen = load_relaxed(byte);

	while (seen != STUCK &&
	       !atomic_compare_exchange_weak_explicit(
		       byte, &seen, is_more ? seen + 1 : seen - 1,
		       memory_order_relaxed, memory_order_relaxed))
		;
}

bool samples_add(const void *ptr)
{
	const uint64_t home = home_of(ptr);

	for (uint64_t i = 0; i < PROBES; i++) {
		_Atomic uintptr_t *slot = &table[(home + i) % SLOTS];
		uintptr_t seen = load_relaxed(slot);

		if (seen > WAS_TAKEN)
			continue;
		/* Before the slot: a free that finds it must pass the filter.
		 * Whoever frees the block got it from us, so all of this
		 * happened before. */
		count(ptr, true);
		if (atomic_compare_exchange_strong_explicit(
			    slot, &seen, (uintptr_t)ptr, memory_order_relaxed,
			    memory_order_relaxed))
			return true;
		count(ptr, false);
	}
	return false;
}

bool samples_take(const void *ptr)
{
	const uint64_t home = home_of(ptr);

	for (uint64_t i = 0; i < PROBES; i++) {
		_Atomic uintptr_t *slot = &table[(home + i) % SLOTS];
		uintptr_t seen = load_relaxed(slot);

		if (!seen)
			return false;
		if (seen != (uintptr_t)ptr)
			continue;
		if (!atomic_compare_exchange_strong_explicit(
			    slot, &seen, WAS_TAKEN, memory_order_relaxed,
			    memory_order_relaxed))
			return false;
		count(ptr, false);
		return true;
	}
	return false;
}
