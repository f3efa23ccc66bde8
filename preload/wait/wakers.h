/* SPDX-License-Identifier: MIT */
/*
 * wakers.h - who signalled what a thread waits on.
 *
 * A small table by address of the condition or semaphore: who signalled it last
 * and how often it was signalled, in one word.  Two that share a place drive
 * each other out, and the waiter then learns nothing; it never learns what
 * isn't so but by a collision of 26 bits.
 */
#ifndef PRELOAD_WAKERS_H
#define PRELOAD_WAKERS_H

#include "collector/system/base.h"

#define WAKERS_SLOTS	1024u
#define WAKERS_TID_BITS 22u /* the kernel has no more of them */
#define WAKERS_COUNT	0xffffu

extern _Atomic uint64_t wakers[WAKERS_SLOTS]
	__attribute__((visibility("hidden")));

static inline uint64_t wakers_hash(const void *object)
{
	return (uint64_t)(uintptr_t)object / 8 * UINT64_C(0x9e3779b97f4a7c15);
}

static inline _Atomic uint64_t *wakers_slot(const void *object)
{
	return &wakers[wakers_hash(object) >> 54];
}

/* Never 0, so that an empty place is nobody's. */
static inline uint64_t wakers_tag(const void *object)
{
	return (wakers_hash(object) >> 28 & 0x3ffffff) | 1;
}

/* The waiter, before and after. */
static inline uint64_t wakers_look(const void *object)
{
	return load_relaxed(wakers_slot(object));
}

/* Who signals, before it does. */
static inline void wakers_note(const void *object, uint32_t tid)
{
	const uint64_t tag = wakers_tag(object);
	_Atomic uint64_t *slot = wakers_slot(object);
	uint64_t was = load_relaxed(slot), made;

	do {
		const uint64_t count =
			was >> 38 == tag
				? ((was >> WAKERS_TID_BITS) + 1) & WAKERS_COUNT
				: 1;

		made = tag << 38 | count << WAKERS_TID_BITS |
		       (tid & ((1u << WAKERS_TID_BITS) - 1));
	} while (!atomic_compare_exchange_weak_explicit(
		slot, &was, made, memory_order_relaxed, memory_order_relaxed));
}

/* Signals since the first look, as far as is known, and who made the last. */
static inline uint32_t wakers_since(const void *object, uint64_t before,
				    uint64_t after, uint32_t *tid)
{
	const uint64_t tag = wakers_tag(object);

	if (after >> 38 != tag)
		return 0;
	*tid = (uint32_t)(after & ((1u << WAKERS_TID_BITS) - 1));
	if (before >> 38 != tag)
		before = 0;
	return (uint32_t)((after >> WAKERS_TID_BITS) -
			  (before >> WAKERS_TID_BITS)) &
	       WAKERS_COUNT;
}

#endif
