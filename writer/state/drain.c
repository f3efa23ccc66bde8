/* SPDX-License-Identifier: MIT */
/* drain.c - the reader's side of a ring; see drain.h. */
#include "writer/state/drain.h"

#define CHUNK_SLOTS (CHUNK_BYTES / sizeof(struct event))
#define CHUNK_BITS  40

uint64_t drain_pack(const struct drain *drain)
{
	return drain->chunk | (uint64_t)drain->slot << CHUNK_BITS;
}

struct drain drain_unpack(uint64_t word)
{
	const uint64_t chunk = word & ((UINT64_C(1) << CHUNK_BITS) - 1);

	return (struct drain){.chunk = chunk,
			      .slot = (uint32_t)(word >> CHUNK_BITS)};
}

static const struct event *damaged(struct drain *drain)
{
	drain->damaged = true;
	return NULL;
}

static void leave_chunk(struct drain *drain, uint64_t next,
			struct drain_spent *spent)
{
	if (spent && !array_reserve(&spent->array,
				    (spent->count + 1) * sizeof(uint64_t)))
		((uint64_t *)spent->array.base)[spent->count++] = drain->chunk;
	drain->chunk = next;
	drain->slot = 1;
}

/* The chunk that the reader stands in, NULL none or not to be trusted. */
static struct chunk *find_chunk(const struct session *session,
				struct ring *ring, struct drain *drain)
{
	if (!drain->chunk) {
		/* ACQUIRE pairs with RELEASE in ring_reserve_chunk(): the
		 * chunk's head. */
		drain->chunk = load_acquire(&ring->first_chunk);
		drain->slot = 1;
	}
	if (drain->chunk & (CACHE_LINE - 1))
		return NULL;
	return session_at_checked(session, drain->chunk, CHUNK_BYTES);
}

const struct event *drain_peek(const struct session *session, struct ring *ring,
			       struct drain *drain, uint64_t limit,
			       struct drain_spent *spent, uint64_t *budget)
{
	const struct event *event;
	uint32_t slots;

	if (!limit || drain->damaged)
		return NULL;
	for (;;) {
		struct chunk *chunk = find_chunk(session, ring, drain);
		const uint64_t at = drain_at(drain);
		uint64_t next;

		if (!chunk || !*budget || drain->slot < 1 ||
		    drain->slot > CHUNK_SLOTS)
			return damaged(drain);
		if (at == limit)
			return NULL;
		--*budget;
		/* ACQUIRE pairs with RELEASE in ring_reserve_chunk(): the end
		 * of this chunk. */
		next = load_acquire(&chunk->next);
		if (next && at == chunk->end) {
			leave_chunk(drain, next, spent);
			continue;
		}
		if (drain->slot == CHUNK_SLOTS)
			return damaged(drain);
		event = (const struct event *)chunk + drain->slot;
		slots = event->flags & EVENT_TWO_SLOTS ? 2 : 1;
		if (drain->slot + slots > CHUNK_SLOTS)
			return damaged(drain);
		return event;
	}
}
