/* SPDX-License-Identifier: MIT */
/* pack.c - chunks of slots become packed ones; see pack.h. */
#include "writer/history/pack.h"

#include "collector/session/pool.h"
#include "writer/gpu/gpu_known.h"
#include "writer/history/spill.h"
#include "writer/state/unpack.h"
#include <string.h>

/* Quarters of the buffer: with fewer free there is something to relieve. */
#define QUARTERS 3u

static struct chunk *chunk_at(const struct writer_state *state, uint64_t at)
{
	return session_at(state->session, at);
}

static bool lies_in(uint64_t at, uint64_t chunk)
{
	return at > chunk && at <= chunk + CHUNK_BYTES;
}

/* Somebody stands there, or is to stop there. */
bool pack_is_held(const struct ring_reader *reader, uint64_t at)
{
	return reader->drain.chunk == at || reader->scan.chunk == at ||
	       reader->ends.chunk == at || reader->seen.chunk == at ||
	       lies_in(reader->limit, at) || lies_in(reader->first_limit, at);
}

void pack_link(struct chunk *chunk, uint64_t used, uint64_t next)
{
	/* RELEASE pairs with ACQUIRE in drain_peek() and used_of(): the groups,
	 * and the chunk that comes next. */
	store_release(&chunk->next, used << CHUNK_USED_SHIFT | next);
}

uint64_t pack_used(const struct chunk *chunk)
{
	return load_relaxed(&((struct chunk *)chunk)->next) >> CHUNK_USED_SHIFT;
}

uint64_t pack_next(const struct chunk *chunk)
{
	return load_relaxed(&((struct chunk *)chunk)->next) & CHUNK_NEXT_MASK;
}

void pack_give(struct writer_state *state, uint64_t at)
{
	if (state->room && !state->spare_chunk)
		state->spare_chunk = at;
	else
		pool_give(state->session, at);
}

struct chunk *pack_make(struct writer_state *state, enum chunk_form form,
			uint64_t *at)
{
	struct chunk *chunk;

	*at = pool_take(state->session);
	if (!*at) {
		*at = state->spare_chunk;
		state->spare_chunk = 0;
	}
	if (!*at)
		return NULL;
	chunk = chunk_at(state, *at);
	chunk->form = form;
	chunk->owner = 0;
	state->packed_chunks++;
	return chunk;
}

/* One chunk of slots as groups of a packed one: `used` of it are taken. */
struct packing {
	const struct event *slots;
	size_t count;
	size_t done;
};

static uint64_t fill(struct chunk *chunk, uint64_t used,
		     struct packing *packing)
{
	size_t taken = 1;

	while (taken && packing->done < packing->count) {
		used += packed_write(packing->slots + packing->done,
				     packing->count - packing->done,
				     (uint8_t *)chunk + used,
				     CHUNK_BYTES - used, &taken);
		packing->done += taken;
	}
	return used;
}

static bool begin(const struct chunk *chunk, struct packing *packing,
		  uint64_t at)
{
	const uint64_t bytes = chunk->end - at;

	packing->slots = (const struct event *)(chunk + 1);
	packing->count = bytes / sizeof(struct event) - 1;
	packing->done = 0;
	return chunk->end > at && bytes <= CHUNK_BYTES;
}

/* Puts the chunk behind `last`, whose link is the last thing that changes.
 * Returns the chunk that is the last one then; 0: as it was. */
static uint64_t pack_one(struct writer_state *state, uint64_t last_at,
			 uint64_t at)
{
	struct chunk *last = chunk_at(state, last_at);
	const struct chunk *old = chunk_at(state, at);
	const uint64_t next = pack_next(old);
	const bool is_packed = last->form == CHUNK_PACKED;
	uint64_t used = is_packed ? pack_used(last) : 0;
	uint64_t made_at = 0;
	struct packing packing;
	struct chunk *made;

	if (!begin(old, &packing, at))
		return 0;
	if (is_packed)
		used = fill(last, used, &packing);
	if (packing.done < packing.count) {
		made = pack_make(state, CHUNK_PACKED, &made_at);
		if (!made)
			return 0;
		pack_link(made, fill(made, sizeof(*made), &packing), next);
	}
	if (packing.done < packing.count) {
		/* It takes more room so: no event is like another. */
		state->packed_chunks--;
		pack_give(state, made_at);
		return 0;
	}
	if (!is_packed)
		used = last->form == CHUNK_SPOOLED ? pack_used(last) : 0;
	pack_link(last, used, made_at ? made_at : next);
	pack_give(state, at);
	return made_at ? made_at : last_at;
}

static void pack_ring(struct writer_state *state, struct ring_reader *reader)
{
	struct drain *drain = &reader->drain;
	uint64_t last = drain->packed;

	if (!last)
		last = drain->chunk;
	if (!last)
		last = load_relaxed(&reader->thread->ring.first_chunk);
	while (last) {
		const uint64_t at = pack_next(chunk_at(state, last));
		uint64_t packed = 0;

		/* The owner's own has none behind it. */
		if (!at || !pack_next(chunk_at(state, at)))
			break;
		if (chunk_at(state, at)->form == CHUNK_RAW &&
		    !pack_is_held(reader, at))
			packed = pack_one(state, last, at);
		last = packed ? packed : at;
	}
	drain->packed = last;
}

void pack_rings(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		if (!gpu_is_reader(t) && !t->drain.damaged)
			pack_ring(state, t);
	}
	/* A history has its own bounds. */
	if (state->packed_chunks > spill_limit(state) && !state->history &&
	    !state->keeps)
		spill(state);
}

void pack_relieve(struct writer_state *state)
{
	const struct session_header *head = state->session->head;

	/* A program that waits for what is written down live gets there no
	 * sooner, and each event would be handled three times. */
	if (head->options.on_full == ON_FULL_WAIT &&
	    head->options.encode == ENCODE_LIVE && !state->keeps &&
	    !state->history)
		return;
	if (pool_room(state->session) <
	    head->ceiling_bytes / CHUNK_BYTES * QUARTERS / 4)
		pack_rings(state);
}

bool pack_has_room(struct writer_state *state)
{
	return state->packed_chunks <= 2 * spill_limit(state) &&
	       !spill_is_full(state);
}
