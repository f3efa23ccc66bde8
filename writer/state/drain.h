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
 */
#ifndef WRITER_DRAIN_H
#define WRITER_DRAIN_H

#include "collector/session/thread.h"
#include "writer/state/arena.h"

struct drain {
	uint64_t chunk; /* session offset, 0: nothing was read yet */
	uint32_t slot;	/* next to read; slot 0 is the chunk's head */
	bool damaged;	/* the chain made no sense; nothing more comes */
};

/* Chunks that were read to their end. */
struct drain_spent {
	struct array array; /* of uint64_t */
	size_t count;
};

/* A place as one word, and back: what a checkpoint keeps.  0 is "nothing". */
uint64_t drain_pack(const struct drain *drain);
struct drain drain_unpack(uint64_t word);

/* Session offset of the next slot to read. */
static inline uint64_t drain_at(const struct drain *drain)
{
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
