/* SPDX-License-Identifier: MIT */
/* chunk_prefault.c - touches chunks ahead; see chunk_prefault.h. */
#include "writer/state/chunk_prefault.h"

#include "collector/session/pool.h"

#define LEAST_CHUNKS  4u
/* Most that one look touches: some milliseconds. */
#define STEP_CHUNKS   64u
/* The same where nothing presses. */
#define EXTEND_CHUNKS 16u

static unsigned int chunks_of(uint64_t bytes)
{
	return (unsigned int)(bytes / CHUNK_BYTES);
}

static unsigned int in_rings(const struct session *session)
{
	const struct session_header *head = session->head;
	const unsigned int made = load_relaxed(&head->chunk_count);
	const unsigned int free = load_relaxed(&head->free_chunk_count);

	return made > free ? made - free : 0;
}

/* Events that wait are more urgent than those to come: a chunk takes as long to
 * touch as half of one to write down. */
static bool is_behind(const struct session *session, unsigned int waiting)
{
	return waiting > chunks_of(session->head->ceiling_bytes / 8);
}

void chunk_prefault_refill(struct chunk_prefault *prefault,
			   struct session *session)
{
	const unsigned int now = in_rings(session);
	const unsigned int taken =
		now > prefault->in_rings ? now - prefault->in_rings : 0;

	prefault->in_rings = now;
	if (is_behind(session, now))
		return;
	pool_reserve(session, min_u32(LEAST_CHUNKS + 2 * taken, STEP_CHUNKS));
}

bool chunk_prefault_extend(struct chunk_prefault *prefault,
			   struct session *session)
{
	const struct session_header *head = session->head;
	const unsigned int made = load_relaxed(&head->chunk_count);
	const bool is_heavy = head->options.malloc == MALLOC_ALL ||
			      head->options.malloc == MALLOC_SITES;
	unsigned int wanted;

	chunk_prefault_refill(prefault, session);
	if (is_behind(session, in_rings(session)))
		return false;
	/* Not all: names and new threads need room that isn't in chunks. */
	wanted = chunks_of(head->ceiling_bytes / (is_heavy ? 4 : 64));
	if (made >= wanted)
		return false;
	pool_reserve(session, load_relaxed(&head->free_chunk_count) +
				      min_u32(EXTEND_CHUNKS, wanted - made));
	/* The ceiling may come first. */
	return load_relaxed(&head->chunk_count) > made;
}
