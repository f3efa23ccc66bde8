/* SPDX-License-Identifier: MIT */
/* spill.c - from packed chunks to the spool file; see spill.h. */
#include "writer/history/spill.h"

#include "collector/session/pool.h"
#include "writer/gpu/gpu_known.h"
#include "writer/state/unpack.h"
#include <sys/uio.h>

/* Chunks that one write takes: 2 MiB. */
#define BATCH	    32
#define BUFFER_PART 4u
#define TEXT_MIB    (UINT64_C(1) << 20)

/* One that is to go: where it lies in its chain. */
struct leaving {
	struct ring_reader *reader;
	uint64_t before; /* the chunk before it */
	uint64_t at;
	uint64_t file_at;
};

struct batch {
	struct leaving chunk[BATCH];
	struct iovec part[BATCH];
	int count;
};

static struct chunk *chunk_at(const struct writer_state *state, uint64_t at)
{
	return session_at(state->session, at);
}

uint64_t spill_limit(const struct writer_state *state)
{
	return state->session->head->ceiling_bytes / CHUNK_BYTES / BUFFER_PART;
}

/* More would be past the detail of any file anyway. */
bool spill_is_full(const struct writer_state *state)
{
	const uint64_t most =
		(uint64_t)state->session->head->options.max_mb * TEXT_MIB;

	return state->spool.error || (most && state->spool.end >= most);
}

/* Chunks of one ring that nothing is added to any more, one behind the other;
 * those that are held are passed over. */
static void gather(struct writer_state *state, struct ring_reader *reader,
		   struct batch *batch)
{
	uint64_t before = reader->drain.spooled;

	if (!before)
		before = reader->drain.chunk;
	if (!before)
		before = load_relaxed(&reader->thread->ring.first_chunk);
	while (before && before != reader->drain.packed &&
	       batch->count < BATCH) {
		const uint64_t at = pack_next(chunk_at(state, before));
		const struct chunk *chunk;

		if (!at || at == reader->drain.packed)
			return;
		chunk = chunk_at(state, at);
		if (chunk->form == CHUNK_PACKED && !pack_is_held(reader, at)) {
			batch->part[batch->count] = (struct iovec){
				(void *)(chunk + 1),
				pack_used(chunk) - sizeof(*chunk)};
			batch->chunk[batch->count++] =
				(struct leaving){reader, before, at, 0};
		}
		before = at;
	}
}

/* The spooled chunk that a place goes to: the one before, or a new one. */
static struct chunk *places_of(struct writer_state *state, uint64_t before,
			       uint64_t *at)
{
	struct chunk *chunk = chunk_at(state, before);

	*at = before;
	if (chunk->form == CHUNK_SPOOLED &&
	    pack_used(chunk) + sizeof(struct spool_place) <= CHUNK_BYTES)
		return chunk;
	chunk = pack_make(state, CHUNK_SPOOLED, at);
	state->spool.chunks += chunk != NULL;
	return chunk;
}

/* In the chain stands its place in the file now.  Returns the spooled chunk; 0
 * there was no room for one. */
static uint64_t replace(struct writer_state *state,
			const struct leaving *leaving, size_t bytes)
{
	struct chunk *old = chunk_at(state, leaving->at);
	struct chunk *before = chunk_at(state, leaving->before);
	const uint64_t next = pack_next(old);
	const bool was_spooled = before->form == CHUNK_SPOOLED;
	struct spool_place *place;
	struct chunk *places;
	uint64_t used, at;

	places = places_of(state, leaving->before, &at);
	if (!places)
		return 0;
	used = was_spooled && at == leaving->before ? pack_used(places)
						    : sizeof(*places);
	place = (struct spool_place *)((char *)places + used);
	place->at = leaving->file_at;
	place->bytes = (uint32_t)bytes;
	place->slots = unpack_slots(old);
	pack_link(places, used + sizeof(*place), next);
	if (at != leaving->before)
		pack_link(before, pack_used(before), at);
	state->packed_chunks--;
	pack_give(state, leaving->at);
	return at;
}

/* All of them are in the file. */
static void replace_all(struct writer_state *state, struct batch *batch)
{
	uint64_t last = 0;

	for (int i = 0; i < batch->count; i++) {
		struct leaving *leaving = &batch->chunk[i];

		/* The one before has just gone the same way. */
		if (i && leaving->reader == leaving[-1].reader &&
		    leaving->before == leaving[-1].at)
			leaving->before = last;
		last = replace(state, leaving, batch->part[i].iov_len);
		if (!last)
			last = leaving->at;
		leaving->reader->drain.spooled = last;
	}
}

static bool spill_batch(struct writer_state *state)
{
	struct batch batch = {.count = 0};
	uint64_t at;

	for (struct ring_reader *t = state->readers; t && batch.count < BATCH;
	     t = t->older) {
		if (!gpu_is_reader(t) && !t->drain.damaged)
			gather(state, t, &batch);
	}
	if (!batch.count ||
	    spool_write(&state->spool, batch.part, batch.count, &at))
		return false;
	for (int i = 0; i < batch.count; i++) {
		batch.chunk[i].file_at = at;
		at += batch.part[i].iov_len;
	}
	replace_all(state, &batch);
	return true;
}

void spill(struct writer_state *state)
{
	if (spill_is_full(state) || spool_make(&state->spool, state->session))
		return;
	while (state->packed_chunks > spill_limit(state) / 2 &&
	       !spill_is_full(state) && spill_batch(state))
		;
}
