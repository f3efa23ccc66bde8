/* SPDX-License-Identifier: MIT */
/*
 * pool.c - the stack of free chunks.
 *
 * The head word is tag << 40 | offset: offsets stay below 2^40, and each push
 * and pop moves the tag on, so that a chunk which was popped, filled, drained
 * and pushed between a look and a swap is noticed.
 */
#include "collector/session/pool.h"

#include <sys/mman.h>

#define OFFSET_BITS 40
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)

static uint64_t with_next_tag(uint64_t seen, uint64_t offset)
{
	return ((seen >> OFFSET_BITS) + 1) << OFFSET_BITS | offset;
}

static uint64_t pop(struct session *session)
{
	struct session_header *head = session->head;
	/* ACQUIRE pairs with RELEASE in pool_give(): the link in the chunk. */
	uint64_t seen = load_acquire(&head->free_chunks);

	for (;;) {
		const uint64_t at = seen & OFFSET_MASK;

		if (!at)
			return 0;
		struct chunk *chunk = session_at(session, at);
		const uint64_t next = load_relaxed(&chunk->next);

		/* ACQUIRE as above, on success and on the next round. */
		if (atomic_compare_exchange_weak_explicit(
			    &head->free_chunks, &seen,
			    with_next_tag(seen, next), memory_order_acquire,
			    memory_order_acquire)) {
			atomic_fetch_sub_explicit(&head->free_chunk_count, 1,
						  memory_order_relaxed);
			return at;
		}
	}
}

static uint64_t make_chunk(struct session *session)
{
	const uint64_t at = session_alloc(session, CHUNK_BYTES);

	if (at)
		add_relaxed(&session->head->chunk_count, 1);
	return at;
}

uint64_t pool_take(struct session *session)
{
	const uint64_t at = pop(session);

	return at ? at : make_chunk(session);
}

void pool_give(struct session *session, uint64_t at)
{
	struct session_header *head = session->head;
	struct chunk *chunk = session_at(session, at);
	uint64_t seen = load_relaxed(&head->free_chunks);

	chunk->owner = 0;
	chunk->form = CHUNK_RAW;
	/* Counted first, so that no taker can bring the count below zero. */
	add_relaxed(&head->free_chunk_count, 1);
	do {
		store_relaxed(&chunk->next, seen & OFFSET_MASK);
		/* RELEASE pairs with ACQUIRE in pop(): who takes the chunk sees
		 * its link, and we have finished reading its slots. */
	} while (!atomic_compare_exchange_weak_explicit(
		&head->free_chunks, &seen, with_next_tag(seen, at),
		memory_order_release, memory_order_relaxed));
}

/* Faults a chunk's pages in, so that no hook has to. */
static void touch(struct session *session, uint64_t at)
{
	volatile char *bytes = session_at(session, at);

	for (size_t i = 0; i < CHUNK_BYTES; i += PAGE_BYTES)
		bytes[i] = 0;
}

void pool_reserve(struct session *session, unsigned int chunks)
{
	while (load_relaxed(&session->head->free_chunk_count) < chunks) {
		const uint64_t at = make_chunk(session);

		if (!at)
			return;
		touch(session, at);
		pool_give(session, at);
	}
}

unsigned int pool_room(struct session *session)
{
	struct session_header *head = session->head;
	const uint64_t used = load_relaxed(&head->used);
	const uint64_t left =
		head->ceiling_bytes > used ? head->ceiling_bytes - used : 0;

	return load_relaxed(&head->free_chunk_count) +
	       (unsigned int)(left / CHUNK_BYTES);
}
