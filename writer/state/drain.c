/* SPDX-License-Identifier: MIT */
/* drain.c - the reader's side of a ring; see drain.h. */
#include "writer/state/drain.h"

#include "writer/state/unpack.h"

#define CHUNK_SLOTS (CHUNK_BYTES / sizeof(struct event))
/* A line that its owner has just written comes from another core, in some 100
 * ns. */
#define LINES_AHEAD 8
#define IS_PACKED   UINT64_C(1)

uint64_t drain_pack(const struct drain *drain)
{
	return drain->chunk | (drain->is_packed ? IS_PACKED : 0) |
	       (uint64_t)drain->slot << DRAIN_CHUNK_BITS;
}

struct drain drain_unpack(uint64_t word)
{
	const uint64_t chunk =
		word & ((UINT64_C(1) << DRAIN_CHUNK_BITS) - 1) & ~IS_PACKED;

	return (struct drain){.chunk = chunk,
			      .is_packed = word & IS_PACKED,
			      .slot = (uint32_t)(word >> DRAIN_CHUNK_BITS)};
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
	if (drain->packed == drain->chunk)
		drain->packed = 0;
	if (drain->spooled == drain->chunk)
		drain->spooled = 0;
	drain->chunk = next;
	drain->slot = 1;
	drain->is_packed = false;
}

/* The chunk that the reader stands in, NULL none or not to be trusted. */
static struct chunk *find_chunk(const struct session *session,
				struct ring *ring, struct drain *drain)
{
	struct chunk *chunk;

	if (!drain->chunk) {
		/* ACQUIRE pairs with RELEASE in ring_reserve_chunk(): the
		 * chunk's head. */
		drain->chunk = load_acquire(&ring->first_chunk);
		drain->slot = 1;
	}
	if (drain->chunk & (CACHE_LINE - 1))
		return NULL;
	chunk = session_at_checked(session, drain->chunk, CHUNK_BYTES);
	drain->is_packed = chunk && chunk->form != CHUNK_RAW;
	return chunk;
}

/* The next event of a packed chunk.  NULL: none is left, or drain->damaged. */
static const struct event *peek_packed(const struct session *session,
				       const struct chunk *chunk,
				       struct drain *drain)
{
	const struct event *event = NULL;
	uint32_t left;

	if (!drain->unpack || !unpack_find(drain->unpack, session, chunk,
					   drain->slot, &event, &left))
		return damaged(drain);
	if (event && event->flags & EVENT_TWO_SLOTS && left < 2)
		return damaged(drain);
	return event;
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

		if (!chunk || !*budget || drain->slot < 1)
			return damaged(drain);
		if (unlikely(drain->is_packed)) {
			--*budget;
			event = peek_packed(session, chunk, drain);
			if (event || drain->damaged)
				return event;
			/* ACQUIRE pairs with RELEASE in pack.c's link(). */
			next = load_acquire(&chunk->next) & CHUNK_NEXT_MASK;
			if (!next)
				return NULL;
			leave_chunk(drain, next, spent);
			continue;
		}
		if (drain->slot > CHUNK_SLOTS)
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
		__builtin_prefetch(event + LINES_AHEAD);
		slots = event->flags & EVENT_TWO_SLOTS ? 2 : 1;
		if (drain->slot + slots > CHUNK_SLOTS)
			return damaged(drain);
		return event;
	}
}
