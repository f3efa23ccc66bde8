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

#include "collector/ring.h"
#include "collector/session.h"

/* Session offset of a chunk, 0 when the ceiling is reached. */
uint64_t pool_take(struct session *session);

/* True when pool_take() would give 0: nothing is free, nothing is left before
 * the ceiling.  The count is never below the number of chunks on the stack. */
static inline bool pool_is_dry(const struct session *session)
{
	const struct session_header *head = session->head;

	return !load_relaxed(&head->free_chunk_count) &&
	       load_relaxed(&head->used) + CHUNK_BYTES > head->ceiling_bytes;
}

/* The writer alone. */
void pool_give(struct session *session, uint64_t chunk);

/* Writer: make sure that `chunks` free and touched ones lie ready, as far as
 * the ceiling allows. */
void pool_reserve(struct session *session, unsigned int chunks);

/* Chunks that could still be handed out: free ones and room to the ceiling. */
unsigned int pool_room(struct session *session);

#endif
