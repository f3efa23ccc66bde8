/* SPDX-License-Identifier: MIT */
/*
 * pack.h - what waits in the rings, put together.
 *
 * Events may wait long: while no core is free to write them down
 * (writer/history/room.h), for the flight recorder, or for a window that lies
 * in the past.  Full chunks of a ring become packed ones in the same place of
 * the same chain, a seventh of them in number, and their memory goes back to
 * the pool; so hooks go on in lines that are in a cache.  Past a quarter of the
 * buffer packed chunks go to the session's spool file in their turn.
 *
 *	ring:   slots -> packed -> ... -> packed -> slots of the owner
 *	                   |
 *	                spooled: places in the file
 *
 * Each change is one store of a link, so a kill finds an event in one place.
 * Chunks that a reader stands in, or has its limit in, are left as they are,
 * and the owner's. GPUs' rings are too: their events are changed where they
 * lie.
 */
#ifndef WRITER_PACK_H
#define WRITER_PACK_H

#include "writer/state/writer_state.h"

/* All rings.  Takes some 190 instructions an event. */
void pack_rings(struct writer_state *state);

/* The same, where hooks are running out of chunks: cheap when not. */
void pack_relieve(struct writer_state *state);

/* A file makes room for events.  False: there is none, and no memory for more:
 * what waits must be written down. */
bool pack_has_room(struct writer_state *state);

#endif
