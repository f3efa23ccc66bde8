/* SPDX-License-Identifier: MIT */
/*
 * pool.h - free chunks of a session, last freed first reused.
 *
 * A stack of session offsets with a tag against reuse between a look and a
 * swap.  Owners of rings take chunks (cold path of ring_reserve), the writer
 * gives them back once what they held is in the file and keeps a reserve of
 * touched ones ahead.
 */
#ifndef COLLECTOR_POOL_H
#define COLLECTOR_POOL_H

#include "collector/session/ring.h"
#include "collector/session/session.h"

/* Session offset of a chunk, 0 when the ceiling is reached. */
uint64_t pool_take(struct session *session);

/* True when nothing is left before the ceiling: what isn't free now comes back
 * from the writer or not at all. */
static inline bool pool_is_spent(const struct session *session)
{
	const struct session_header *head = session->head;

	return load_relaxed(&head->used) + CHUNK_BYTES > head->ceiling_bytes;
}

/* Of this refused event in its run and of so many more the time is not read. */
#define POOL_UNTIMED 32u

/* Owner: in the middle of a refused run, with nothing free and the writer
 * awake: another look would find nothing.  The count is never below the number
 * of chunks on the stack. */
static inline bool pool_is_shut(const struct ring *ring)
{
	const struct session_header *head =
		(const struct session_header *)((const char *)ring - ring->at);

	return ring->shut && ring->refused &&
	       !load_relaxed(&head->free_chunk_count) &&
	       !load_relaxed(&head->writer_sleeps);
}

/* The same, and the run's time was read not long ago: ring_refuse_again() is
 * enough. */
static inline bool pool_keeps_out(const struct ring *ring)
{
	return ring->refused % POOL_UNTIMED && pool_is_shut(ring);
}

/* The writer alone. */
void pool_give(struct session *session, uint64_t chunk);

/* Writer: make sure that `chunks` free and touched ones lie ready, as far as
 * the ceiling allows. */
void pool_reserve(struct session *session, unsigned int chunks);

/* Chunks that could still be handed out: free ones and room to the ceiling. */
unsigned int pool_room(struct session *session);

#endif
