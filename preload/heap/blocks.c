/* SPDX-License-Identifier: MIT */
/*
 * blocks.c - the table of large blocks.
 *
 * A block is added after its birth and taken before its death, so no two
 * threads ever work on the same address at a time; they only compete for free
 * slots.
 */
#include "preload/heap/blocks.h"

struct block {
	_Atomic uint64_t address; /* 0 free */
	uint64_t bytes;
};

static struct block *blocks;
static uint64_t blocks_min;

void blocks_start(struct session *session, uint64_t min_bytes)
{
	const uint64_t at =
		session_alloc(session, BLOCKS_SLOTS * sizeof(struct block));

	blocks = at ? session_at(session, at) : NULL;
	blocks_min = min_bytes;
}

static unsigned int slot_of(uint64_t address, unsigned int i)
{
	const uint64_t hash = address * 0x9e3779b97f4a7c15u;

	return (unsigned int)((hash >> 40) + i) % BLOCKS_SLOTS;
}

bool blocks_add(const void *ptr, uint64_t bytes)
{
	const uint64_t address = (uint64_t)(uintptr_t)ptr;

	if (!blocks || bytes < blocks_min)
		return false;
	for (unsigned int i = 0; i < BLOCKS_WINDOW; i++) {
		struct block *block = &blocks[slot_of(address, i)];
		uint64_t none = 0;

		/* The program itself orders a block's birth and death, and so
		 * our stores and loads of `bytes`. */
		if (atomic_compare_exchange_strong_explicit(
			    &block->address, &none, address,
			    memory_order_acquire, memory_order_relaxed)) {
			block->bytes = bytes;
			return true;
		}
	}
	return false;
}

bool blocks_take(const void *ptr, uint64_t *bytes)
{
	const uint64_t address = (uint64_t)(uintptr_t)ptr;

	if (!blocks)
		return false;
	for (unsigned int i = 0; i < BLOCKS_WINDOW; i++) {
		struct block *block = &blocks[slot_of(address, i)];

		if (load_relaxed(&block->address) != address)
			continue;
		*bytes = block->bytes;
		/* RELEASE pairs with the ACQUIRE of the swap in blocks_add():
		 * who takes the slot next stores `bytes` after our load. */
		store_release(&block->address, 0);
		return true;
	}
	return false;
}
