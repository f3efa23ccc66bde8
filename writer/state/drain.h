/* SPDX-License-Identifier: MIT */
/*
 * drain.h - walks one ring from where a reader stands to a published position.
 *
 * The reader's place is a chunk and a slot in it.  It never trusts what it
 * reads: the session may be another process's, damaged or made to harm, so each
 * chunk is looked up with a check, each step is counted, and a chain that makes
 * no sense ends the walk for good.
 *
 * Chunks that the reader has left are only named here; they go back to the pool
 * once a checkpoint holds what was in them (writer/checkpoint.h).
 *
 * What has waited long is packed, in chunks of the same chain
 * (writer/history/pack.h): it is unpacked here, so nobody else sees a
 * difference.  An event is then in the reader's own memory, until the next look
 * at the same ring.
 */
#ifndef WRITER_DRAIN_H
#define WRITER_DRAIN_H

#include "collector/session/thread.h"
#include "writer/state/arena.h"

struct unpack;

struct drain {
	uint64_t chunk;	       /* session offset, 0: nothing was read yet */
	uint32_t slot;	       /* next to read; slot 0 is the chunk's head */
	bool damaged;	       /* the chain made no sense; nothing more comes */
	bool is_packed;	       /* the chunk's slots are no slots of memory */
	struct unpack *unpack; /* of the ring; NULL: can't read such */
	/* How far behind it chunks were packed, and spooled; 0: as it. */
	uint64_t packed, spooled;
};

/* Chunks that were read to their end. */
struct drain_spent {
	struct array array; /* of uint64_t */
	size_t count;
};

/* A place as one word, and back: what a checkpoint keeps.  0 is "nothing". */
uint64_t drain_pack(const struct drain *drain);
struct drain drain_unpack(uint64_t word);

#define DRAIN_CHUNK_BITS 40

/* Session offset of the next slot to read; of a packed one a number that is no
 * offset. */
static inline uint64_t drain_at(const struct drain *drain)
{
	if (unlikely(drain->is_packed))
		return (drain->chunk | 1) +
		       ((uint64_t)drain->slot << DRAIN_CHUNK_BITS);
	return drain->chunk + drain->slot * sizeof(struct event);
}

/* The next event before `limit` (a value of ring_published()); the place moves
 * into its chunk but not beyond it.  NULL when there is none.  `spent` (may be
 * NULL) takes the chunks that were left; `budget` counts slots down and ends
 * the walk at 0. */
const struct event *drain_peek(const struct session *session, struct ring *ring,
			       struct drain *drain, uint64_t limit,
			       struct drain_spent *spent, uint64_t *budget);

/* Moves past the event that was peeked at. */
static inline void drain_skip(struct drain *drain, const struct event *event)
{
	drain->slot += event->flags & EVENT_TWO_SLOTS ? 2 : 1;
}

#endif
