/* SPDX-License-Identifier: MIT */
/*
 * unpack.h - the events of packed chunks, one group at a time.
 *
 * One for each ring: the group that was looked at last is kept, and the next
 * look is mostly at the same or at the one behind it.
 */
#ifndef WRITER_UNPACK_H
#define WRITER_UNPACK_H

#include "collector/session/ring.h"
#include "collector/session/session.h"
#include "writer/state/packed.h"

struct spool;

/* In a spooled chunk: so many groups lie there in the file. */
struct spool_place {
	uint64_t at;
	uint32_t bytes;
	uint32_t slots;
};

#define SPOOL_PLACES_MOST                                                      \
	((CHUNK_BYTES - sizeof(struct chunk)) / sizeof(struct spool_place))

struct unpack {
	struct spool *spool;
	uint64_t chunk; /* session offset, 0 none yet */
	uint32_t first; /* number of the group's first slot in the chunk */
	uint32_t count; /* slots that are here */
	uint32_t place; /* of a spooled chunk: which one */
	uint32_t at;	/* in the chunk or place: where the next group begins */
	struct event slots[PACKED_SLOTS_MAX];

	/* Of the file. */
	uint64_t read_at;
	uint32_t read_bytes;
	uint8_t read[PACKED_MOST];
};

/* Slot `slot`, counted from 1, of a chunk of the writer's forms; *left gets how
 * many there are from it to the end of its group.  NULL in *event: the chunk
 * has no more.  False: it makes no sense. */
bool unpack_find(struct unpack *unpack, const struct session *session,
		 const struct chunk *chunk, uint32_t slot,
		 const struct event **event, uint32_t *left);

/* Of all its groups. */
uint32_t unpack_slots(const struct chunk *chunk);

#endif
